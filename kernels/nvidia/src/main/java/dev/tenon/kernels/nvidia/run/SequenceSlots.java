package dev.tenon.kernels.nvidia.run;

import dev.tenon.api.device.HostCopies;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.kernels.nvidia.KvBuffer;
import java.util.List;
import java.util.Optional;

/// The states of sequences of a plan, which owns the memory. A slot knows how many tokens it has seen, so that
/// a step which would leave some out is refused. Used in the plan's turn; slots are copied between its steps.
final class SequenceSlots implements StateSlots {
    /// In place of a length: the step that last used the slot did not end.
    private static final int BROKEN = -1;

    private final PlanTurn turn;
    private final StepDevice device;
    private final List<KvBuffer> buffers;
    private final int[] lengths;

    /// @param turn the plan's
    /// @param device has the memory
    /// @param buffers states of the ops
    /// @param count number of slots
    SequenceSlots(PlanTurn turn, StepDevice device, List<KvBuffer> buffers, int count) {
        this.turn = turn;
        this.device = device;
        this.buffers = buffers;
        this.lengths = new int[count];
    }

    @Override
    public int slotCount() {
        return lengths.length;
    }

    @Override
    public long slotBytes() {
        return buffers.stream().mapToLong(KvBuffer::pageBytes).sum();
    }

    @Override
    public void copy(int from, int to) {
        if (from < 0 || from >= lengths.length || to < 0 || to >= lengths.length) {
            throw new IndexOutOfBoundsException(
                    "copy of state slot " + from + " to " + to + "; there are slots 0 to " + (lengths.length - 1));
        }
        turn.begin("copying of states");
        try {
            device.copy(buffers, from, to);
            lengths[to] = lengths[from];
        } finally {
            turn.end();
        }
    }

    @Override
    public Optional<HostCopies> hostCopies() {
        return Optional.of(
                new PieceCopies(turn, device, buffers, lengths.length, (slot, tokens) -> lengths[slot] = tokens));
    }

    /// Begins a step: until [#end] its slots are of no use.
    ///
    /// @param input a checked step
    /// @throws IllegalArgumentException if a sequence does not go on where its slot is
    void begin(StepInput input) {
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
            lengths[input.stateSlot(input.sequence(t))] = BROKEN;
        }
    }

    /// Notes that steps are done.
    ///
    /// @param input the first one
    /// @param steps how many; in each after the first a sequence has run one token
    void end(StepInput input, int steps) {
        for (int t = 0; t < input.tokenCount(); t++) {
            lengths[input.stateSlot(input.sequence(t))] = input.position(t) + steps;
        }
    }
}
