package dev.tenon.kernels.nvidia.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.StepInput;
import dev.tenon.kernels.nvidia.BufferSpec;
import dev.tenon.kernels.nvidia.KvBuffer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SequenceSlotsTests {
    private final List<String> copies = new ArrayList<>();
    private final KvBuffer buffer = new KvBuffer(new BufferSpec(0, BufferSpec.Kind.STATE, "states", 96), 32);
    private final SequenceSlots slots = new SequenceSlots(new PlanTurn(), new Copies(), List.of(buffer, buffer), 3);

    /// A device that only notes what it copies.
    private final class Copies implements StepDevice {
        @Override
        public MemorySegment input() {
            throw new UnsupportedOperationException();
        }

        @Override
        public MemorySegment pageTables() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<MemorySegment> sampled() {
            return Optional.empty();
        }

        @Override
        public StepLogits logits() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void sendPageTables(long offset, long bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void run(Step step) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void copy(List<KvBuffer> buffers, int from, int to) {
            copies.add(from + " to " + to + " in " + buffers.size());
        }

        @Override
        public void read(List<KvBuffer> buffers, int piece, MemorySegment target) {
            copies.add(piece + " to host in " + buffers.size());
        }

        @Override
        public void write(List<KvBuffer> buffers, int piece, MemorySegment source) {
            copies.add("host to " + piece + " in " + buffers.size());
        }
    }

    private static StepInput tokens(int slot, int position, int count) {
        StepInput input = new StepInput();
        input.addSequence(new int[] {0}, slot);
        for (int t = 0; t < count; t++) {
            input.addToken(1, position + t, false);
        }
        return input;
    }

    private void run(StepInput input) {
        slots.begin(input);
        slots.end(input, 1);
    }

    private String refusal(StepInput input) {
        return assertThrows(IllegalArgumentException.class, () -> slots.begin(input))
                .getMessage();
    }

    @Test
    void aSlotHoldsTheStatesOfAllOps() {
        assertEquals(3, slots.slotCount());
        assertEquals(64, slots.slotBytes());
    }

    @Test
    void aSequenceGoesOnWhereItsSlotIs() {
        run(tokens(1, 0, 4));
        run(tokens(1, 4, 1));
        assertTrue(refusal(tokens(1, 4, 1)).contains("state slot 1 is at 5"));
        assertTrue(refusal(tokens(2, 5, 1)).contains("state slot 2 is at 0"));
        run(tokens(1, 0, 2));
        run(tokens(1, 2, 1));
    }

    @Test
    void aCopyIsWhereTheOriginalWas() {
        run(tokens(1, 0, 4));
        slots.copy(1, 2);
        run(tokens(1, 4, 1));
        run(tokens(2, 4, 3));
        assertEquals(List.of("1 to 2 in 2"), copies);
        assertThrows(IndexOutOfBoundsException.class, () -> slots.copy(0, 3));
    }

    @Test
    void aSlotWhoseStepDidNotEndIsOfNoUseUntilItsSequenceBeginsAgain() {
        run(tokens(1, 0, 4));
        slots.begin(tokens(1, 4, 1));
        assertTrue(refusal(tokens(1, 5, 1)).contains("broke in a step"));
        run(tokens(1, 0, 1));
    }
}
