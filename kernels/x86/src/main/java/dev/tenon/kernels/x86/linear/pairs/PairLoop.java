package dev.tenon.kernels.x86.linear.pairs;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBP;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.zmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.PairScratch;
import dev.tenon.kernels.x86.block.Tiles;
import dev.tenon.kernels.x86.cpu.Prefetch;

/// Pairs of rows times two to eight tokens with AVX-512 VNNI, for formats that have a
/// [PairMicroKernel]. More tokens, and long rows: [QuadLoop].
///
/// A span of both rows is unpacked to registers and multiplied with the tokens, whose activations
/// have been spread by [#emitSpread] and lie `[span][token]`. A tile of spans is small enough for
/// them to stay in the first-level cache; between tiles the sums of all rows lie in memory. In
/// formats whose tiles have scales it is such a tile ([PackedActivations]), and its scales follow
/// it in the place of a span. Results are those of `RowLoop512`, bit for bit.
///
/// Scratch memory: results `[MAX_TOKENS][OUT_ROWS]`, sums `[PAIRS][tokens][sumsPerToken][16]`,
/// spread activations `[span][token]`.
///
/// Arguments: weights, scratch, scratch, byte offset of the first row in the tile, bytes of a row,
/// pairs of rows; on the stack bytes between the rows of a pair, byte offset of the tile's spread
/// activations in scratch, spans in the tile, byte offset of the first row's results in scratch,
/// [#FIRST] and [#LAST] for the tile.
public final class PairLoop {
    /// The tile is a row's first: sums start from 0.
    public static final int FIRST = 1;
    /// The tile is a row's last: results are stored instead of sums.
    public static final int LAST = 2;

    private static final int REGISTER = 64;
    private static final int LANES = REGISTER / Float.BYTES;

    private static final Gpr[] SAVED = {RBX, RBP, R13, R14, R15};

    private PairLoop() {}

    /// Emits the function that spreads packed rows, one after the other; all in one call, because a
    /// process that has just started computes rows faster than it calls functions.
    ///
    /// Arguments: packed, scratch, scratch, rows, spans, bytes between spans in scratch; on the
    /// stack byte offset of dx in a packed row, rows to write (those after the last are the last
    /// one again), bytes from one packed row to the next.
    static void emitSpread(Assembler a, BlockCode format, PairMicroKernel pair) {
        Gpr[] saved = {RBX, RBP, R12, R13};
        a.push(saved);
        String row = a.fresh("spreadRow");
        String again = a.fresh("spreadAgain");
        a.lea(RBX, mem(RSI, PairScratch.SPREAD_OFFSET));
        a.mov(RBP, RDI);
        a.mov(R13, Assembler.stackArgument(1, saved.length));
        a.mov(R12, R8);
        a.label(row);
        a.mov(RDI, RBP);
        a.mov(RSI, RBX);
        a.mov(R8, R12);
        emitSpreadRow(a, format, pair, Assembler.stackArgument(0, saved.length));
        a.add(RBX, pair.spreadBytes);
        a.sub(RCX, 1);
        a.j(If.LESS_OR_EQUAL, again);
        a.add(RBP, Assembler.stackArgument(2, saved.length));
        a.label(again);
        a.loop(R13, row);
        a.end(saved);
    }

    /// RDI packed row, RSI where its first span goes, R8 spans, R9 bytes between them there.
    ///
    /// @param dx byte offset of dx in a packed row
    private static void emitSpreadRow(Assembler a, BlockCode format, PairMicroKernel pair, Mem dx) {
        String tile = a.fresh("spreadTile");
        String span = a.fresh("spread");
        a.mov(R10, dx);
        a.add(R10, RDI);
        a.imul(R11, R8, PackedActivations.scaleBytes(format));
        a.add(R11, R10);
        a.label(tile);
        Tiles.begin(a, format, RAX, R8);
        a.label(span);
        pair.spread(a, RDI, R10, RSI);
        a.add(RDI, BlockCode.SPAN * format.levelBytes());
        a.add(R10, PackedActivations.scaleBytes(format));
        a.add(RSI, R9);
        a.loop(RAX, span);
        if (format.tiled) {
            pair.spreadTile(a, R11, RSI);
            a.add(R11, PackedActivations.arrayBytes(format));
            a.add(RSI, R9);
            a.cmp(R8, 0);
            a.j(If.NOT_ZERO, tile);
        }
    }

    /// Emits the function that copies results to where they are wanted.
    ///
    /// Arguments: scratch, to, to, byte offset of the first token's results in `to`, tokens,
    /// results of a token; on the stack bytes from one token's results to the next one's in `to`.
    static void emitCopy(Assembler a) {
        String token = a.fresh("copyToken");
        String whole = a.fresh("copyWhole");
        String rest = a.fresh("copyRest");
        String single = a.fresh("copySingle");
        String end = a.fresh("copyEnd");
        a.add(RDX, RCX);
        a.label(token);
        a.mov(RSI, RDI);
        a.mov(RCX, RDX);
        a.mov(RAX, R9);
        a.sub(RAX, LANES);
        a.j(If.LESS, rest);
        a.label(whole);
        a.vmovdqu(zmm(0), mem(RSI));
        a.vmovdqu(mem(RCX), zmm(0));
        a.add(RSI, REGISTER);
        a.add(RCX, REGISTER);
        a.sub(RAX, LANES);
        a.j(If.GREATER_OR_EQUAL, whole);
        a.label(rest);
        a.add(RAX, LANES);
        a.j(If.ZERO, end);
        a.label(single);
        a.mov32(R10, mem(RSI));
        a.mov32(mem(RCX), R10);
        a.add(RSI, Float.BYTES);
        a.add(RCX, Float.BYTES);
        a.loop(RAX, single);
        a.label(end);
        a.add(RDI, PairScratch.OUT_ROWS * Float.BYTES);
        a.add(RDX, Assembler.stackArgument(0, 0));
        a.loop(R8, token);
        a.end();
    }

    /// Emits the function for a number of tokens.
    public static void emit(Assembler a, BlockCode format, PairMicroKernel pair, int tokens) {
        a.push(SAVED);
        a.add(RDI, RCX);
        a.mov(RBX, Assembler.stackArgument(0, SAVED.length));
        a.add(RBX, RDI);
        a.lea(RBP, mem(RSI, PairScratch.SUMS_OFFSET));
        a.mov(R14, Assembler.stackArgument(1, SAVED.length));
        a.add(R14, RSI);
        a.add(RDX, Assembler.stackArgument(3, SAVED.length));
        a.mov(R15, Assembler.stackArgument(4, SAVED.length));
        a.mov(R13, R9);
        a.shl(R13, 2);
        pair.constants(a);
        String row = a.fresh("pairsRow");
        a.label(row);
        emitPair(a, format, pair, tokens);
        a.add(RDX, Float.BYTES);
        a.add(RDI, R8);
        a.add(RBX, R8);
        a.add(RBP, tokens * pair.sumsPerToken * REGISTER);
        a.loop(R9, row);
        a.end(SAVED);
    }

    /// Multiplies a tile of a pair with the tokens.
    ///
    /// RDI and RBX point to the rows, R10 and R11 to their spans, R14 to spread activations, RCX to
    /// those of the span, RBP to the pair's sums, RDX to its results; RAX is spans left, R15 which
    /// tile, R8 bytes of a row, R9 pairs left, R13 bytes between results of the two rows.
    private static void emitPair(Assembler a, BlockCode format, PairMicroKernel pair, int tokens) {
        String later = a.fresh("pairsLater");
        String begin = a.fresh("pairsBegin");
        String span = a.fresh("pairsSpan");
        String last = a.fresh("pairsLast");
        String next = a.fresh("pairsNext");
        int sums = tokens * pair.sumsPerToken;
        a.mov(R10, RDI);
        a.mov(R11, RBX);
        a.mov(RCX, R14);
        a.mov(RAX, R15);
        a.and(RAX, FIRST);
        a.mov(RAX, Assembler.stackArgument(2, SAVED.length));
        if (!format.tiled) {
            a.j(If.ZERO, later);
        }
        for (int i = 0; i < sums; i++) {
            a.zero(zmm(i));
        }
        if (format.tiled) {
            pair.beginTile(a);
        } else {
            a.jmp(begin);
            a.label(later);
            for (int i = 0; i < sums; i++) {
                a.vmovdqu(zmm(i), mem(RBP, REGISTER * i));
            }
            a.label(begin);
        }
        a.align(32);
        a.label(span);
        for (Gpr w : PairMicroKernel.ROWS) {
            Prefetch.here().emit(a, w, format.spanBytes);
        }
        pair.unpack(a);
        for (Gpr w : PairMicroKernel.ROWS) {
            a.add(w, format.spanBytes);
        }
        pair.tokens(a, tokens);
        a.add(RCX, tokens * pair.spreadBytes);
        a.loop(RAX, span);
        if (format.tiled) {
            emitEndOfTile(a, pair, tokens);
        }
        a.mov(RAX, R15);
        a.and(RAX, LAST);
        a.j(If.NOT_ZERO, last);
        for (int i = 0; i < sums; i++) {
            a.vmovdqu(mem(RBP, REGISTER * i), zmm(i));
        }
        a.jmp(next);
        a.label(last);
        pair.results(a, tokens, (token, r) -> {
            int at = token * PairScratch.OUT_ROWS * Float.BYTES;
            return r == 0 ? mem(RDX, at) : mem(RDX, R13, 1, at);
        });
        a.label(next);
    }

    private static void emitEndOfTile(Assembler a, PairMicroKernel pair, int tokens) {
        String first = a.fresh("pairsFirst");
        String done = a.fresh("pairsDone");
        a.mov(RAX, R15);
        a.and(RAX, FIRST);
        a.j(If.NOT_ZERO, first);
        pair.endTile(a, tokens, RBP);
        a.jmp(done);
        a.label(first);
        pair.endTile(a, tokens, null);
        a.label(done);
    }
}
