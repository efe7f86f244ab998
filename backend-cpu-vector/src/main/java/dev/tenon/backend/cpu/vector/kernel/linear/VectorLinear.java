package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.device.Support;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.Strands;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// Frame of the Vector API kernels: rows as they lie for few tokens, decoded panels of rows for many.
///
/// Both ways multiply the same values in the order of [Strands] and so give the same bits. For few tokens
/// four rows, a quarter of the range apart, advance together: four streams through memory hide more of its
/// latency than one. A panel is decoded to float32 once and then multiplied with all tokens.
abstract class VectorLinear implements FloatLinear {
    /// From so many tokens on, decoding a panel pays.
    private static final int PANEL_TOKENS = 3;
    /// Rows that advance together, where there are so many; their strands fit in front of [Panel#SCRATCH].
    static final int STREAMS = 4;
    /// Floats behind [Panel#SCRATCH] that formats may use.
    static final int SCALES = 32 * STREAMS;

    /// Where decoded rows begin: behind the strands of a tile, scales, and what vectors write after those.
    private static final int PANEL = Panel.SCRATCH + SCALES + 16;

    private final String name;

    /// Creates a kernel.
    ///
    /// @param format format id in lower case
    VectorLinear(String format) {
        this.name = format + ".vector" + Species.BITS;
    }

    /// {@return elements of a row that are multiplied before it is the next row's turn: a multiple of 32 and of
    /// the block size}
    int span() {
        return 512;
    }

    /// {@return bytes of a span}
    ///
    /// @param elements its elements
    abstract long spanBytes(int elements);

    /// Multiplies parts of some weight rows with a token's activations.
    ///
    /// @param weights the matrix
    /// @param at where the first row's part starts, as [Memory#at] returns it
    /// @param apart bytes to the next row's part
    /// @param streams number of rows, at most [#STREAMS]
    /// @param x activations
    /// @param xOffset index of the first
    /// @param n elements: [#span], or what is left of the row
    /// @param scratch holds 32 strands a row in `floats`, to which the products are added; free for use are
    ///     `levels` and, from [Panel#SCRATCH] on, [#SCALES] floats
    abstract void add(
            MemorySegment weights, long at, long apart, int streams, float[] x, int xOffset, int n, Scratch scratch);

    /// Decodes a weight row.
    ///
    /// @param weights the matrix
    /// @param offsetBytes where the row starts
    /// @param n elements, whole blocks
    /// @param scratch receives the values in `floats`; `levels` is free for use
    /// @param at index of the first value; from [Panel#SCRATCH] on, [#SCALES] floats are free for use
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
        return Math.addExact(PANEL, Math.multiplyExact(Panel.ROWS, n));
    }

    @Override
    public int scratchBytes(int n) {
        return 0;
    }

    @Override
    public final void run(LinearCall call, float[] x, Scratch scratch) {
        MemorySegment weights = call.weights;
        long rowBytes = call.rowBytes;
        int firstRow = call.firstRow;
        int rows = call.rows;
        int n = call.n;
        int tokens = call.tokens;
        float[] out = call.out.array();
        int outOffset = call.outOffset;
        int outStride = call.outStride;
        if (tokens < PANEL_TOKENS) {
            long at = Memory.at(weights, firstRow * rowBytes, rows * rowBytes);
            int each = rows / STREAMS;
            int done = each * STREAMS;
            for (int t = 0; t < tokens; t++) {
                int o = outOffset + t * outStride;
                streams(weights, at, rowBytes, each, STREAMS, x, t * n, n, out, o, scratch);
                streams(weights, at + done * rowBytes, rowBytes, rows - done, 1, x, t * n, n, out, o + done, scratch);
            }
            return;
        }
        for (int r = firstRow; r < firstRow + rows; r += Panel.ROWS) {
            int count = Math.min(Panel.ROWS, firstRow + rows - r);
            for (int i = 0; i < count; i++) {
                expand(weights, (r + i) * rowBytes, n, scratch, PANEL + i * n);
            }
            Panel.multiply(scratch.floats(), PANEL, count, x, n, tokens, out, outStride, outOffset + r - firstRow);
        }
    }

    /// Multiplies `streams * each` rows, of which those `each` apart advance together.
    private void streams(
            MemorySegment weights,
            long at,
            long rowBytes,
            int each,
            int streams,
            float[] x,
            int xOffset,
            int n,
            float[] out,
            int outOffset,
            Scratch scratch) {
        float[] strands = scratch.floats();
        int span = span();
        long apart = each * rowBytes;
        for (int r = 0; r < each; r++) {
            Arrays.fill(strands, 0, streams * Strands.COUNT, 0f);
            long row = at + r * rowBytes;
            for (int i = 0; i < n; i += span) {
                int count = Math.min(span, n - i);
                add(weights, row, apart, streams, x, xOffset + i, count, scratch);
                row += spanBytes(count);
            }
            for (int s = 0; s < streams; s++) {
                out[outOffset + s * each + r] = Strands.sum(strands, s * Strands.COUNT);
            }
        }
    }
}
