package dev.tenon.platform.core.steps;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SequenceStatesTests {
    private static final CheckpointLimits NOTHING = new CheckpointLimits(0, 0, null);

    private final List<String> copies = new ArrayList<>();
    private final SequenceStates states = new SequenceStates(new SlotsOnly(4), 2, NOTHING, 16);
    private final TokenSequence sequence = new TokenSequence();

    private final class SlotsOnly implements Plan, StateSlots {
        private final int count;

        SlotsOnly(int count) {
            this.count = count;
        }

        @Override
        public Optional<StateSlots> states() {
            return count == 0 ? Optional.empty() : Optional.of(this);
        }

        @Override
        public int slotCount() {
            return count;
        }

        @Override
        public long slotBytes() {
            return 1;
        }

        @Override
        public void copy(int from, int to) {
            copies.add(from + " to " + to);
        }

        @Override
        public StepResult run(StepInput input) {
            throw new UnsupportedOperationException();
        }

        @Override
        public KvPages kvPages() {
            throw new UnsupportedOperationException();
        }

        @Override
        public PlanReport report() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }

    /// Runs tokens as steps of one sequence.
    private void run(int... counts) {
        for (int count : counts) {
            states.prepare(sequence, count);
            for (int i = 0; i < count; i++) {
                sequence.append(i);
            }
            sequence.advance(count);
        }
    }

    @Test
    void aShortenedSequenceReturnsToTheCopyFromBeforeItsLastSeveralTokens() {
        run(10, 20, 1, 1, 1);
        assertEquals(List.of("0 to 1"), copies);
        states.rewind(sequence, 15);
        assertEquals(List.of("0 to 1", "1 to 0"), copies);
        assertEquals(10, sequence.computed());
    }

    @Test
    void oneThatIsShortenedFurtherBeginsAgain() {
        run(10, 20, 1);
        states.rewind(sequence, 9);
        assertEquals(0, sequence.computed());
        assertEquals(List.of("0 to 1"), copies);
    }

    @Test
    void aCopyThatHasSeenTokensWhichWereTakenBackIsNotReturnedTo() {
        run(10, 20);
        states.rewind(sequence, 5);
        run(30);
        states.rewind(sequence, 25);
        assertEquals(0, sequence.computed());
        assertEquals(List.of("0 to 1"), copies);
    }

    @Test
    void afterAFailedStepItReturnsToBeforeThatStep() {
        run(10);
        states.prepare(sequence, 20);
        states.rewind(sequence, sequence.computed());
        assertEquals(List.of("0 to 1", "1 to 0"), copies);
        assertEquals(10, sequence.computed());
    }

    @Test
    void slotsOfAClosedSequenceAreUsedAgain() {
        run(10, 20);
        TokenSequence other = new TokenSequence();
        states.prepare(other, 1);
        assertNotEquals(sequence.slot(), other.slot());
        assertNotEquals(sequence.savedSlot(), other.slot());
        for (int round = 0; round < 9; round++) {
            states.release(sequence);
            run(3, 3);
        }
        states.release(sequence);
        assertEquals(StepInput.NO_SLOT, sequence.slot());
    }

    @Test
    void aPlanWithoutStatesGivesNoSlots() {
        SequenceStates none = new SequenceStates(new SlotsOnly(0), 2, NOTHING, 16);
        none.prepare(sequence, 5);
        sequence.advance(5);
        none.rewind(sequence, 3);
        none.release(sequence);
        assertEquals(StepInput.NO_SLOT, sequence.slot());
        assertEquals(5, sequence.computed());
    }
}
