package dev.tenon.kernels.nvidia.step;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The host's memory from which the device reads which tokens it may sample (`sample.cu`): for each row that
/// wants logits a bit for each token, in slices of 1024, `int64 bits[rows][slices][16]`.
public final class TokenMasks {
    /// Tokens of a slice.
    public static final int SLICE = 1024;

    private TokenMasks() {}

    /// {@return bytes of the memory}
    ///
    /// @param rows rows that want logits
    /// @param width logits in a row
    public static long bytes(int rows, int width) {
        return (long) rows * slices(width) * (SLICE / Byte.SIZE);
    }

    /// {@return slices of a row}
    ///
    /// @param width logits in a row
    public static int slices(int width) {
        return Math.ceilDiv(width, SLICE);
    }

    /// Writes the mask of a row. Not while the device samples.
    ///
    /// @param memory the memory
    /// @param row which row
    /// @param width logits in a row
    /// @param mask as [dev.tenon.api.device.StepInput#mask] has it
    public static void write(MemorySegment memory, int row, int width, long[] mask) {
        MemorySegment to = memory.asSlice(bytes(row, width), bytes(1, width));
        int words = (int) Math.min(mask.length, to.byteSize() / Long.BYTES);
        MemorySegment.copy(mask, 0, to, ValueLayout.JAVA_LONG, 0, words);
        to.asSlice((long) words * Long.BYTES).fill((byte) 0);
    }
}
