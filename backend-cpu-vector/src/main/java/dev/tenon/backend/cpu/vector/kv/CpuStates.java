package dev.tenon.backend.cpu.vector.kv;

import dev.tenon.api.device.HostCopies;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.backend.cpu.vector.memory.CpuAllocator;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// The states of sequences, an array for each slot and op, owned by the plan.
///
/// All slots count as in use from the start, but a slot gets its memory when a step first needs it ([#begin]).
/// A slot knows how many tokens it has seen, so that a step which would leave some out is refused.
public final class CpuStates implements StateSlots, AutoCloseable {
    /// In place of a length: the step that last used the slot did not end.
    private static final int BROKEN = -1;

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

    private final int[] floats;
    private final long slotBytes;
    private final CpuAllocator.Reservation memory;
    /// `[slot][op]`.
    private final float[][][] slots;
    /// Tokens that a slot has seen.
    private final int[] lengths;

    /// Sets the memory aside.
    ///
    /// @param ops the ops; a kernel names its own by its index here
    /// @param count number of slots
    /// @param allocator gives the memory
    public CpuStates(List<Op> ops, int count, CpuAllocator allocator) {
        floats = ops.stream()
                .mapToInt(op -> Math.toIntExact(RecurrentOp.stateFloats(op)))
                .toArray();
        slotBytes = ops.stream().mapToLong(RecurrentOp::stateFloats).sum() * Float.BYTES;
        memory = allocator.reserve(Math.multiplyExact(slotBytes, (long) count), "states of sequences");
        slots = new float[count][][];
        lengths = new int[count];
    }

    @Override
    public int slotCount() {
        return slots.length;
    }

    @Override
    public long slotBytes() {
        return slotBytes;
    }

    @Override
    public void copy(int from, int to) {
        if (from < 0 || from >= slots.length || to < 0 || to >= slots.length) {
            throw new IndexOutOfBoundsException(
                    "copy of state slot " + from + " to " + to + "; there are slots 0 to " + (slots.length - 1));
        }
        prepare(from);
        prepare(to);
        for (int i = 0; i < floats.length; i++) {
            System.arraycopy(slots[from][i], 0, slots[to][i], 0, floats[i]);
        }
        lengths[to] = lengths[from];
    }

    @Override
    public Optional<HostCopies> hostCopies() {
        return Optional.of(new HostCopies() {
            @Override
            public String layout() {
                return "cpu-vector 1, " + Arrays.hashCode(floats);
            }

            @Override
            public void read(int slot, MemorySegment target) {
                prepare(slot);
                long at = 0;
                for (float[] state : slots[slot]) {
                    MemorySegment.copy(state, 0, target, FLOAT, at, state.length);
                    at += (long) state.length * Float.BYTES;
                }
            }

            @Override
            public void write(int slot, int tokens, MemorySegment source) {
                prepare(slot);
                long at = 0;
                for (float[] state : slots[slot]) {
                    MemorySegment.copy(source, FLOAT, at, state, 0, state.length);
                    at += (long) state.length * Float.BYTES;
                }
                lengths[slot] = tokens;
            }
        });
    }

    private void prepare(int slot) {
        if (slots[slot] == null) {
            float[][] arrays = new float[floats.length][];
            for (int i = 0; i < arrays.length; i++) {
                arrays[i] = memory.floats(floats[i]);
            }
            slots[slot] = arrays;
        }
    }

    /// Gives memory to the slots of a step, and empties those whose sequence begins.
    ///
    /// @param input a checked step
    /// @throws IllegalArgumentException if a sequence does not go on where its slot is
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-003`) if there is no memory
    public void begin(StepInput input) {
        for (int t = 0; t < input.tokenCount(); t++) {
            if (t == 0 || input.sequence(t) != input.sequence(t - 1)) {
                int slot = input.stateSlot(input.sequence(t));
                int position = input.position(t);
                if (position > 0 && position != lengths[slot]) {
                    throw new IllegalArgumentException("position " + position + " at index " + t + "; state slot "
                            + slot + (lengths[slot] == BROKEN ? " broke in a step" : " is at " + lengths[slot]));
                }
            }
        }
        for (int t = 0; t < input.tokenCount(); t++) {
            int slot = input.stateSlot(input.sequence(t));
            prepare(slot);
            if (input.position(t) == 0) {
                for (float[] state : slots[slot]) {
                    Arrays.fill(state, 0);
                }
            }
            lengths[slot] = BROKEN;
        }
    }

    /// Notes that a step is done.
    ///
    /// @param input the step
    public void end(StepInput input) {
        for (int t = 0; t < input.tokenCount(); t++) {
            lengths[input.stateSlot(input.sequence(t))] = input.position(t) + 1;
        }
    }

    /// {@return the state of an op}
    ///
    /// @param slot a slot of the step
    /// @param op its index
    public float[] state(int slot, int op) {
        return slots[slot][op];
    }

    /// {@return bytes of all slots}
    public long sizeBytes() {
        return memory.sizeBytes();
    }

    @Override
    public void close() {
        memory.close();
    }
}
