package dev.tenon.kernels.nvidia.run;

import dev.tenon.api.device.HostCopies;
import dev.tenon.kernels.nvidia.KvBuffer;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Brings pages or slots of a plan to the host and back, in the plan's turn.
///
/// @param turn the plan's
/// @param device has the memory
/// @param buffers what pieces are of
/// @param count number of pieces
/// @param written hears of a piece that was written, and of the tokens that it has seen
record PieceCopies(PlanTurn turn, StepDevice device, List<KvBuffer> buffers, int count, Written written)
        implements HostCopies {
    /// Hears of pieces that were written.
    @FunctionalInterface
    interface Written {
        void piece(int index, int tokens);
    }

    @Override
    public String layout() {
        return "nvidia 1, " + buffers.stream().map(KvBuffer::pageBytes).toList().hashCode();
    }

    @Override
    public void read(int index, MemorySegment target) {
        begin(index);
        try {
            device.read(buffers, index, target);
        } finally {
            turn.end();
        }
    }

    @Override
    public void write(int index, int tokens, MemorySegment source) {
        begin(index);
        try {
            device.write(buffers, index, source);
            written.piece(index, tokens);
        } finally {
            turn.end();
        }
    }

    private void begin(int index) {
        if (index < 0 || index >= count) {
            throw new IndexOutOfBoundsException("page or slot " + index + "; there are 0 to " + (count - 1));
        }
        turn.begin("copying of pages");
    }
}
