package dev.tenon.kernels.x86;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Runs the functions of [PairsCode512] over rows and tiles.
final class PairsRun {
    /// What the spread activations of a tile may take of the first-level cache.
    private static final int TILE_BYTES = 36 * 1024;

    private final BlockCode format;
    private final PairCode512 pair;

    PairsRun(BlockCode format, PairCode512 pair) {
        this.format = format;
        this.pair = pair;
    }

    /// {@return whether rows are multiplied so}
    boolean takes(int n, int tokens) {
        return tokens > 1 && tokens <= pair.mostTokens && n % BlockCode.SPAN == 0;
    }

    /// {@return bytes of scratch memory for up to a number of tokens}
    long scratchBytes(int n, int tokens) {
        int most = Math.min(tokens, pair.mostTokens);
        return PairsCode512.SPREAD_OFFSET + PackCode.spans(n) * slots(most) * pair.spreadBytes;
    }

    /// {@return tokens of the function that is used}
    private int slots(int tokens) {
        int passes = PairsCode512.passes(pair, tokens);
        return (tokens + passes - 1) / passes * passes;
    }

    /// Multiplies as [PackedLinear#run] does.
    void run(
            KernelCode k,
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            int n,
            MemorySegment packed,
            int tokens,
            float[] out,
            int outOffset,
            int outStride,
            MemorySegment scratch) {
        int slots = slots(tokens);
        int spans = n / BlockCode.SPAN;
        int tile = Math.max(1, TILE_BYTES / (slots * pair.spreadBytes));
        if (PairsCode512.passes(pair, slots) > 1) {
            tile = Math.min(tile, PairsCode512.UNPACKED_SPANS);
        }
        int block = spans <= tile ? PairsCode512.OUT_ROWS : 2 * PairsCode512.PAIRS;
        spread(k, n, packed, tokens, slots, scratch);
        for (int r = 0; r < rows; r += block) {
            int count = Math.min(block, rows - r);
            int even = count & -2;
            if (even > 0) {
                tiles(k, weights, rowBytes, firstRow + (long) r, even, spans, tile, slots, 0, scratch);
            }
            if (even < count) {
                long row = firstRow + (long) r + even;
                tiles(k, weights, rowBytes, row, 1, spans, tile, slots, even * Float.BYTES, scratch);
            }
            for (int t = 0; t < tokens; t++) {
                MemorySegment.copy(
                        scratch,
                        ValueLayout.JAVA_FLOAT,
                        (long) t * PairsCode512.OUT_ROWS * Float.BYTES,
                        out,
                        outOffset + t * outStride + r,
                        count);
            }
        }
    }

    private void spread(KernelCode k, int n, MemorySegment packed, int tokens, int slots, MemorySegment scratch) {
        long packedBytes = PackCode.packedBytes(format, n);
        for (int t = 0; t < slots; t++) {
            CodeMemory.Call.plain(
                    k.spread,
                    packed,
                    scratch,
                    scratch,
                    Math.min(t, tokens - 1) * packedBytes,
                    n / BlockCode.SPAN,
                    (long) slots * pair.spreadBytes,
                    PackCode.scalesOffset(format, n),
                    PairsCode512.SPREAD_OFFSET + (long) t * pair.spreadBytes,
                    0,
                    0,
                    0);
        }
    }

    /// Multiplies an even number of rows, or one row, which is then both rows of a pair.
    private void tiles(
            KernelCode k,
            MemorySegment weights,
            long rowBytes,
            long row,
            int rows,
            int spans,
            int tile,
            int slots,
            long out,
            MemorySegment scratch) {
        int pairs = (rows + 1) / 2;
        for (int s = 0; s < spans; s += tile) {
            int which = (s == 0 ? PairsCode512.FIRST : 0) | (s + tile >= spans ? PairsCode512.LAST : 0);
            CodeMemory.Call.plain(
                    k.pairs(slots),
                    weights,
                    scratch,
                    scratch,
                    row * rowBytes + (long) s * format.spanBytes,
                    rowBytes,
                    pairs,
                    rows == 1 ? 0 : pairs * rowBytes,
                    PairsCode512.SPREAD_OFFSET + (long) s * slots * pair.spreadBytes,
                    Math.min(tile, spans - s),
                    out,
                    which);
        }
    }
}
