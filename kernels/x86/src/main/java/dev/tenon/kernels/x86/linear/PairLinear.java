package dev.tenon.kernels.x86.linear;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.PairScratch;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.kernels.x86.block.QuadMicroKernel;
import dev.tenon.kernels.x86.call.CodeMemory;
import dev.tenon.kernels.x86.linear.pairs.PairFunctions;
import dev.tenon.kernels.x86.linear.pairs.PairLoop;
import dev.tenon.kernels.x86.linear.pairs.QuadLoop;
import dev.tenon.kernels.x86.linear.pairs.QuadPrefetch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Runs the functions of [PairLoop] and [QuadLoop] over rows.
final class PairLinear {
    /// What the spread activations of a tile may take of the first-level cache.
    private static final int TILE_BYTES = 36 * 1024;

    private final BlockCode format;
    private final PairMicroKernel pair;
    /// How four rows are multiplied at once; null where that is not done.
    private final QuadMicroKernel quad;

    PairLinear(BlockCode format, PairMicroKernel pair, QuadMicroKernel quad) {
        this.format = format;
        this.pair = pair;
        this.quad = quad;
    }

    /// {@return whether rows are multiplied so}
    boolean takes(int n, int tokens) {
        return tokens > 1 && tokens <= most() && n % BlockCode.SPAN == 0;
    }

    private int most() {
        return quad == null ? PairScratch.PAIRS_TOKENS : PairScratch.MAX_TOKENS;
    }

    /// {@return whether four rows are multiplied at once: where registers would not hold the sums of pairs, or
    /// pairs would need several tiles}
    private boolean takesQuads(int n, int tokens) {
        return quad != null && (tokens > PairScratch.PAIRS_TOKENS || tokens > 2 && n / BlockCode.SPAN > tile(tokens));
    }

    /// {@return spans of a tile of pairs}
    private int tile(int tokens) {
        return format.tiled ? PanelShape.TILE : Math.max(1, TILE_BYTES / (tokens * pair.spreadBytes));
    }

    /// {@return bytes of scratch memory for up to a number of tokens}
    long scratchBytes(int n, int tokens) {
        int slots = evenTokens(Math.min(tokens, most()));
        return PairScratch.SPREAD_OFFSET + spread(PackedActivations.spans(n)) * slots * pair.spreadBytes;
    }

    /// {@return as how many spans the activations of some are spread: tiles may have scales}
    private long spread(long spans) {
        return format.tiled ? spans + (spans + PanelShape.TILE - 1) / PanelShape.TILE : spans;
    }

    /// {@return tokens that quads are multiplied with: the last one perhaps twice}
    private static int evenTokens(int tokens) {
        return (tokens + QuadLoop.STEP - 1) & -QuadLoop.STEP;
    }

    /// Multiplies as [QuantizedLinear#run] does.
    void run(
            LinearCode k,
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            int n,
            MemorySegment packed,
            int tokens,
            HostFloats out,
            int outOffset,
            int outStride,
            MemorySegment scratch) {
        if (takesQuads(n, tokens)) {
            int slots = evenTokens(tokens);
            PairFunctions.Functions f = k.pairs.quads(QuadPrefetch.index(format, rowBytes, slots / QuadLoop.STEP));
            spread(f, n, packed, tokens, slots, scratch);
            runQuads(f, weights, rowBytes, firstRow, rows, n, tokens, out, outOffset, outStride, scratch);
        } else {
            PairFunctions.Functions f = k.pairs.pairs(tokens);
            spread(f, n, packed, tokens, tokens, scratch);
            runPairs(f, weights, rowBytes, firstRow, rows, n, tokens, out, outOffset, outStride, scratch);
        }
    }

    private void runPairs(
            PairFunctions.Functions f,
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            int n,
            int tokens,
            HostFloats out,
            int outOffset,
            int outStride,
            MemorySegment scratch) {
        int spans = n / BlockCode.SPAN;
        int tile = tile(tokens);
        int block = spans <= tile ? PairScratch.OUT_ROWS : 2 * PairScratch.PAIRS;
        for (int r = 0; r < rows; r += block) {
            int count = Math.min(block, rows - r);
            int even = count & -2;
            if (even > 0) {
                tiles(f, weights, rowBytes, firstRow + (long) r, even, spans, tile, tokens, 0, scratch);
            }
            if (even < count) {
                long row = firstRow + (long) r + even;
                tiles(f, weights, rowBytes, row, 1, spans, tile, tokens, even * Float.BYTES, scratch);
            }
            copy(f, scratch, tokens, out, outOffset + r, outStride, count);
        }
    }

    private void runQuads(
            PairFunctions.Functions f,
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            int n,
            int tokens,
            HostFloats out,
            int outOffset,
            int outStride,
            MemorySegment scratch) {
        int slots = evenTokens(tokens);
        for (int r = 0; r < rows; r += PairScratch.OUT_ROWS) {
            int count = Math.min(PairScratch.OUT_ROWS, rows - r);
            long row = firstRow + (long) r;
            int quads = count / QuadLoop.ROWS;
            if (quads > 0) {
                quads(f, weights, rowBytes, row, quads, rowBytes, n, slots, 0, scratch);
                int last = count - QuadLoop.ROWS;
                if (last % QuadLoop.ROWS > 0) {
                    // Some of these rows are computed twice.
                    quads(f, weights, rowBytes, row + last, 1, rowBytes, n, slots, last, scratch);
                }
            } else {
                for (int i = 0; i < count; i++) {
                    quads(f, weights, rowBytes, row + i, 1, 0, n, slots, i, scratch);
                }
            }
            copy(f, scratch, tokens, out, outOffset + r, outStride, count);
        }
    }

    private static void copy(
            PairFunctions.Functions f,
            MemorySegment scratch,
            int tokens,
            HostFloats out,
            int outOffset,
            int outStride,
            int count) {
        if (tokens >= QuantizedLinear.DIRECT_TOKENS) {
            MemorySegment to = out.view();
            CodeMemory.Call.brief(
                    f.copy(),
                    scratch,
                    to,
                    to,
                    (long) outOffset * Float.BYTES,
                    tokens,
                    count,
                    (long) outStride * Float.BYTES,
                    0,
                    0,
                    0,
                    0);
            return;
        }
        for (int t = 0; t < tokens; t++) {
            MemorySegment.copy(
                    scratch,
                    ValueLayout.JAVA_FLOAT,
                    (long) t * PairScratch.OUT_ROWS * Float.BYTES,
                    out.array(),
                    outOffset + t * outStride,
                    count);
        }
    }

    /// Multiplies quads of rows.
    ///
    /// @param between bytes from one row of a quad to the next; 0 for four times the same row
    /// @param out where the first row's results go in a token's results
    private void quads(
            PairFunctions.Functions f,
            MemorySegment weights,
            long rowBytes,
            long row,
            int quads,
            long between,
            int n,
            int slots,
            int out,
            MemorySegment scratch) {
        CodeMemory.Call.plain(
                f.product(),
                weights,
                scratch,
                scratch,
                row * rowBytes,
                rowBytes,
                quads,
                between,
                n / BlockCode.SPAN,
                (long) out * Float.BYTES,
                slots / QuadLoop.STEP,
                0);
    }

    /// @param slots how many are spread: the last one perhaps more than once
    private void spread(
            PairFunctions.Functions f, int n, MemorySegment packed, int tokens, int slots, MemorySegment scratch) {
        CodeMemory.Call.plain(
                f.spread(),
                packed,
                scratch,
                scratch,
                tokens,
                n / BlockCode.SPAN,
                (long) slots * pair.spreadBytes,
                PackedActivations.scalesOffset(format, n),
                slots,
                PackedActivations.packedBytes(format, n),
                0,
                0);
    }

    /// Multiplies an even number of rows, or one row, which is then both rows of a pair.
    private void tiles(
            PairFunctions.Functions f,
            MemorySegment weights,
            long rowBytes,
            long row,
            int rows,
            int spans,
            int tile,
            int tokens,
            long out,
            MemorySegment scratch) {
        int pairs = (rows + 1) / 2;
        for (int s = 0; s < spans; s += tile) {
            int which = (s == 0 ? PairLoop.FIRST : 0) | (s + tile >= spans ? PairLoop.LAST : 0);
            CodeMemory.Call.plain(
                    f.product(),
                    weights,
                    scratch,
                    scratch,
                    row * rowBytes + (long) s * format.spanBytes,
                    rowBytes,
                    pairs,
                    rows == 1 ? 0 : pairs * rowBytes,
                    PairScratch.SPREAD_OFFSET + spread(s) * tokens * pair.spreadBytes,
                    Math.min(tile, spans - s),
                    out,
                    which);
        }
    }
}
