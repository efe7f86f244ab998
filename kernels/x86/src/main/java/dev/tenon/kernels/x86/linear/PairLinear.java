package dev.tenon.kernels.x86.linear;

import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.PairScratch;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.kernels.x86.block.QuadMicroKernel;
import dev.tenon.kernels.x86.call.NativeCall;
import dev.tenon.kernels.x86.linear.pairs.PairFunctions;
import dev.tenon.kernels.x86.linear.pairs.PairLoop;
import dev.tenon.kernels.x86.linear.pairs.QuadLoop;
import dev.tenon.kernels.x86.linear.pairs.QuadPrefetch;
import java.lang.foreign.MemorySegment;

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

    /// {@return whether four rows are multiplied at once: where registers would not hold the sums
    /// of pairs, or pairs would need several tiles}
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
        return (tokens + QuadLoop.TOKENS - 1) & -QuadLoop.TOKENS;
    }

    /// Multiplies all rows of a call with all its tokens.
    void run(LinearCode k, LinearCall call) {
        int tokens = call.tokens;
        if (takesQuads(call.n, tokens)) {
            int slots = evenTokens(tokens);
            PairFunctions.Functions f =
                    k.pairs.quads(QuadPrefetch.index(format, call.rowBytes, slots / QuadLoop.TOKENS));
            spread(call, f, slots);
            runQuads(call, f, slots);
        } else {
            PairFunctions.Functions f = k.pairs.pairs(tokens);
            spread(call, f, tokens);
            runPairs(call, f);
        }
    }

    private void runPairs(LinearCall call, PairFunctions.Functions f) {
        int spans = call.n / BlockCode.SPAN;
        int block = spans <= tile(call.tokens) ? PairScratch.OUT_ROWS : 2 * PairScratch.PAIRS;
        for (int r = 0; r < call.rows; r += block) {
            int count = Math.min(block, call.rows - r);
            int even = count & -2;
            if (even > 0) {
                tiles(call, f, r, even, 0);
            }
            if (even < count) {
                tiles(call, f, r + even, 1, even * Float.BYTES);
            }
            copy(call, f, r, count);
        }
    }

    private void runQuads(LinearCall call, PairFunctions.Functions f, int slots) {
        for (int r = 0; r < call.rows; r += PairScratch.OUT_ROWS) {
            int count = Math.min(PairScratch.OUT_ROWS, call.rows - r);
            int quads = count / QuadLoop.ROWS;
            if (quads > 0) {
                quads(call, f, r, quads, call.rowBytes, slots, 0);
                int last = count - QuadLoop.ROWS;
                if (last % QuadLoop.ROWS > 0) {
                    // Some of these rows are computed twice.
                    quads(call, f, r + last, 1, call.rowBytes, slots, last);
                }
            } else {
                for (int i = 0; i < count; i++) {
                    quads(call, f, r + i, 1, 0, slots, i);
                }
            }
            copy(call, f, r, count);
        }
    }

    /// Copies the results of some rows out.
    private static void copy(LinearCall call, PairFunctions.Functions f, int row, int rows) {
        if (call.tokens < MachineLinear.DIRECT_TOKENS) {
            MachineLinear.copyOut(call, 0, (long) PairScratch.OUT_ROWS * Float.BYTES, 0, call.tokens, row, rows);
            return;
        }
        MemorySegment to = call.out.view();
        NativeCall.brief(
                f.copy(),
                call.scratch,
                to,
                to,
                (long) (call.outOffset + row) * Float.BYTES,
                call.tokens,
                rows,
                (long) call.outStride * Float.BYTES,
                0,
                0,
                0,
                0);
    }

    /// Multiplies quads of rows.
    ///
    /// @param between bytes from one row of a quad to the next; 0 for four times the same row
    /// @param slots tokens that are multiplied: the last one perhaps twice
    /// @param out where the first row's results go in a token's results
    private static void quads(
            LinearCall call, PairFunctions.Functions f, int row, int quads, long between, int slots, int out) {
        NativeCall.plain(
                f.product(),
                call.weights,
                call.scratch,
                call.scratch,
                call.rowAt(row),
                call.rowBytes,
                quads,
                between,
                call.n / BlockCode.SPAN,
                (long) out * Float.BYTES,
                slots / QuadLoop.TOKENS,
                0);
    }

    /// Spreads the activations of all tokens.
    ///
    /// @param slots how many are spread: the last one perhaps twice
    private void spread(LinearCall call, PairFunctions.Functions f, int slots) {
        NativeCall.plain(
                f.spread(),
                call.packed,
                call.scratch,
                call.scratch,
                call.tokens,
                call.n / BlockCode.SPAN,
                (long) slots * pair.spreadBytes,
                PackedActivations.scalesOffset(format, call.n),
                slots,
                PackedActivations.packedBytes(format, call.n),
                0,
                0);
    }

    /// Multiplies an even number of rows, or one row, which is then both rows of a pair.
    ///
    /// @param out byte where the first row's results go in a token's results
    private void tiles(LinearCall call, PairFunctions.Functions f, int row, int rows, long out) {
        int pairs = (rows + 1) / 2;
        int spans = call.n / BlockCode.SPAN;
        int tile = tile(call.tokens);
        for (int s = 0; s < spans; s += tile) {
            int which = (s == 0 ? PairLoop.FIRST : 0) | (s + tile >= spans ? PairLoop.LAST : 0);
            NativeCall.plain(
                    f.product(),
                    call.weights,
                    call.scratch,
                    call.scratch,
                    call.rowAt(row) + (long) s * format.spanBytes,
                    call.rowBytes,
                    pairs,
                    rows == 1 ? 0 : pairs * call.rowBytes,
                    PairScratch.SPREAD_OFFSET + spread(s) * call.tokens * pair.spreadBytes,
                    Math.min(tile, spans - s),
                    out,
                    which);
        }
    }
}
