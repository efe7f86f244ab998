package dev.tenon.backend.cpu.vector.kernel;

import dev.tenon.api.device.Support;
import java.lang.foreign.MemorySegment;

/// Frame of the Vector API kernels: one row at a time for few tokens, decoded panels of rows for many.
///
/// Both ways multiply the same values in the order of [Strands] and so give the same bits. One row at a
/// time reads
/// memory in one long stream, which on its own is the fastest way through weights that no cache holds; a
/// panel is
/// decoded to float32 once and then multiplied with all tokens.
abstract class VectorLinear implements LinearKernel {
    /// From so many tokens on, decoding a panel pays.
    private static final int PANEL_TOKENS = 3;

    private final String name;

    /// Creates a kernel.
    ///
    /// @param format format id in lower case
    VectorLinear(String format) {
        this.name = format + ".vector" + Species.BITS;
    }

    /// Multiplies a weight row with a token's activations.
    ///
    /// @param weights the matrix
    /// @param offsetBytes where the row starts
    /// @param x activations
    /// @param xOffset index of the first
    /// @param n elements, whole blocks
    /// @param scratch receives the strands in `floats`, `[0, 32)`; the rest is free for use
    abstract void dot(MemorySegment weights, long offsetBytes, float[] x, int xOffset, int n, Scratch scratch);

    /// Decodes a weight row.
    ///
    /// @param weights the matrix
    /// @param offsetBytes where the row starts
    /// @param n elements, whole blocks
    /// @param scratch receives the values in `floats`; `levels` is free for use
    /// @param at index of the first value; from [Panel#SCRATCH] on, `n / 8` floats are free for use
    abstract void expand(MemorySegment weights, long offsetBytes, int n, Scratch scratch, int at);

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final Support.Level level() {
        return Support.Level.FAST;
    }

    @Override
    public final int scratchFloats(int n) {
        return Math.addExact(panel(n), Math.multiplyExact(Panel.ROWS, n));
    }

    @Override
    public int scratchBytes(int n) {
        return 0;
    }

    /// Where decoded rows begin: behind the strands of a tile and a row's scales.
    private static int panel(int n) {
        return Panel.SCRATCH + n / 8;
    }

    @Override
    public final void run(
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            float[] x,
            int n,
            int tokens,
            float[] out,
            int outStride,
            Scratch scratch) {
        if (tokens < PANEL_TOKENS) {
            for (int r = firstRow; r < firstRow + rows; r++) {
                for (int t = 0; t < tokens; t++) {
                    dot(weights, r * rowBytes, x, t * n, n, scratch);
                    out[t * outStride + r] = Strands.sum(scratch.floats(), 0);
                }
            }
            return;
        }
        for (int r = firstRow; r < firstRow + rows; r += Panel.ROWS) {
            int count = Math.min(Panel.ROWS, firstRow + rows - r);
            for (int i = 0; i < count; i++) {
                expand(weights, (r + i) * rowBytes, n, scratch, panel(n) + i * n);
            }
            Panel.multiply(scratch.floats(), panel(n), count, x, n, tokens, out, outStride, r);
        }
    }
}
