package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.device.Support;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.Memory;
import dev.tenon.backend.cpu.vector.kernel.RowSpans;
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
    /// @param r at most [#STREAMS] rows, [#span] elements of each or what is left of the row
    /// @param scratch holds 32 strands a row in `floats`, to which the products are added; free for use are
    ///     `levels` and, from [Panel#SCRATCH] on, [#SCALES] floats
    abstract void add(RowSpans r, Scratch scratch);

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
        if (call.tokens < PANEL_TOKENS) {
            RowSpans spans = scratch.spans();
            spans.weights = call.weights;
            spans.x = x;
            int each = call.rows / STREAMS;
            int done = each * STREAMS;
            for (int t = 0; t < call.tokens; t++) {
                spans.rows = STREAMS;
                streams(call, t, 0, each, scratch);
                spans.rows = 1;
                streams(call, t, done, call.rows - done, scratch);
            }
            return;
        }
        int n = call.n;
        for (int r = 0; r < call.rows; r += Panel.ROWS) {
            int count = Math.min(Panel.ROWS, call.rows - r);
            for (int i = 0; i < count; i++) {
                expand(call.weights, call.rowAt(r + i), n, scratch, PANEL + i * n);
            }
            Panel.multiply(call, r, count, x, scratch.floats(), PANEL);
        }
    }

    /// Multiplies some rows from a first one on, of which those `each` apart advance together.
    private void streams(LinearCall call, int token, int first, int each, Scratch scratch) {
        RowSpans spans = scratch.spans();
        float[] strands = scratch.floats();
        float[] out = call.out.array();
        int n = call.n;
        int streams = spans.rows;
        long rowBytes = call.rowBytes;
        long at = Memory.at(call.weights, call.rowAt(first), streams * each * rowBytes);
        int to = call.outOffset + token * call.outStride + first;
        int span = span();
        spans.apart = each * rowBytes;
        for (int r = 0; r < each; r++) {
            Arrays.fill(strands, 0, streams * Strands.COUNT, 0f);
            spans.at = at + r * rowBytes;
            for (int i = 0; i < n; i += span) {
                spans.n = Math.min(span, n - i);
                spans.xOffset = token * n + i;
                add(spans, scratch);
                spans.at += spanBytes(spans.n);
            }
            for (int s = 0; s < streams; s++) {
                out[to + s * each + r] = Strands.sum(strands, s * Strands.COUNT);
            }
        }
    }
}
