package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.Operand.Gpr.RBP;
import static dev.tenon.kernels.x86.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.Operand.mem;
import static dev.tenon.kernels.x86.Operand.zmm;

import dev.tenon.kernels.x86.Assembler.If;
import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Vec;

/// Pairs of rows times two to sixteen tokens with AVX-512 VNNI, for formats that have a
/// [PairCode512].
///
/// A span of both rows is unpacked to registers and multiplied with the tokens, whose activations
/// have been spread by [#emitSpread] and lie `[span][token]`. A tile of spans is small enough for
/// them to stay in the first-level cache; between tiles the sums of all rows lie in memory. Where
/// registers do not hold the sums of all tokens, there are two passes over the tile of each pair;
/// the second finds it unpacked in memory. Results are those of [RowsCode512], bit for bit.
///
/// Scratch memory: results `[MAX_TOKENS][OUT_ROWS]`, sums `[PAIRS][MAX_TOKENS][2][16]`, a tile of
/// unpacked spans, spread activations.
///
/// Arguments: weights, scratch, scratch, byte offset of the first row in the tile, bytes of a
/// row, pairs of rows; on the stack bytes between the rows of a pair, byte offset of the tile's
/// spread activations in scratch, spans in the tile, byte offset of the first row's results in
/// scratch, [#FIRST] and [#LAST] for the tile.
final class PairsCode512 {
    /// Most tokens.
    static final int MAX_TOKENS = 16;
    /// Floats from a token's results to the next one's.
    static final int OUT_ROWS = 256;
    /// Most pairs of rows with several tiles.
    static final int PAIRS = 16;
    /// Most spans of a tile with two passes.
    static final int UNPACKED_SPANS = 8;
    /// The tile is a row's first: sums start from 0.
    static final int FIRST = 1;
    /// The tile is a row's last: results are stored instead of sums.
    static final int LAST = 2;

    private static final int REGISTER = 64;
    private static final int SUM_REGISTERS = 16;
    private static final int SUM_BYTES = 2 * MAX_TOKENS * REGISTER;
    private static final int SUMS_OFFSET = MAX_TOKENS * OUT_ROWS * Float.BYTES;
    private static final int UNPACKED_OFFSET = SUMS_OFFSET + PAIRS * SUM_BYTES;
    /// Where spread activations may begin in scratch memory.
    static final int SPREAD_OFFSET = UNPACKED_OFFSET + UNPACKED_SPANS * SUM_REGISTERS * REGISTER;

    private static final int SAVED = 6;

    private PairsCode512() {}

    /// {@return how often a tile is gone through for a number of tokens}
    static int passes(PairCode512 pair, int tokens) {
        return (tokens * pair.sumsPerToken + pair.sumRegisters - 1) / pair.sumRegisters;
    }

    /// Emits the function that spreads a packed row.
    ///
    /// Arguments: packed, scratch, scratch, byte offset of the row, spans, bytes between spans in
    /// scratch; on the stack byte offset of dx in a packed row, byte offset in scratch.
    static void emitSpread(Assembler a, BlockCode format, PairCode512 pair) {
        String span = a.fresh("spread");
        a.add(RDI, RCX);
        a.mov(R10, Assembler.stackArgument(0, 0));
        a.add(R10, RDI);
        a.add(RSI, Assembler.stackArgument(1, 0));
        a.label(span);
        pair.spread(a, RDI, R10, RSI);
        a.add(RDI, BlockCode.SPAN * format.levelBytes());
        a.add(R10, PackCode.scaleBytes(format));
        a.add(RSI, R9);
        a.sub(R8, 1);
        a.j(If.NOT_ZERO, span);
        a.vzeroupper();
        a.ret();
    }

    /// Emits the function for a number of tokens, a multiple of the passes.
    static void emit(Assembler a, BlockCode format, PairCode512 pair, int tokens) {
        Gpr[] saved = {RBX, RBP, R12, R13, R14, R15};
        for (Gpr r : saved) {
            a.push(r);
        }
        a.add(RDI, RCX);
        a.mov(RBX, Assembler.stackArgument(0, SAVED));
        a.add(RBX, RDI);
        a.lea(RBP, mem(RSI, SUMS_OFFSET));
        a.mov(R14, Assembler.stackArgument(1, SAVED));
        a.add(R14, RSI);
        a.add(RDX, Assembler.stackArgument(3, SAVED));
        a.mov(R15, Assembler.stackArgument(4, SAVED));
        a.mov(R13, R9);
        a.shl(R13, 2);
        pair.constants(a);
        String row = a.fresh("pairsRow");
        a.label(row);
        int passes = passes(pair, tokens);
        for (int p = 0; p < passes; p++) {
            emitPass(a, format, pair, tokens, passes, p);
        }
        a.add(RDX, Float.BYTES);
        a.add(RDI, R8);
        a.add(RBX, R8);
        a.add(RBP, tokens * pair.sumsPerToken * REGISTER);
        a.sub(R9, 1);
        a.j(If.NOT_ZERO, row);
        a.vzeroupper();
        for (int i = saved.length - 1; i >= 0; i--) {
            a.pop(saved[i]);
        }
        a.ret();
    }

    /// Multiplies a tile of a pair with the tokens of a pass.
    ///
    /// RDI and RBX point to the rows, R10 and R11 to their spans, R14 to spread activations, RCX
    /// to those of the span, RSI to scratch memory, R12 to the unpacked span, RBP to the pair's
    /// sums, RDX to its results; RAX is spans left, R15 which tile, R8 bytes of a row, R9 pairs
    /// left, R13 bytes between results of the two rows.
    private static void emitPass(Assembler a, BlockCode format, PairCode512 pair, int tokens, int passes, int pass) {
        String later = a.fresh("pairsLater");
        String begin = a.fresh("pairsBegin");
        String span = a.fresh("pairsSpan");
        String last = a.fresh("pairsLast");
        String next = a.fresh("pairsNext");
        int some = tokens / passes;
        int sums = some * pair.sumsPerToken;
        int sumsAt = pass * sums * REGISTER;
        if (pass == 0) {
            a.mov(R10, RDI);
            a.mov(R11, RBX);
        }
        if (passes > 1) {
            a.lea(R12, mem(RSI, UNPACKED_OFFSET));
        }
        a.mov(RCX, R14);
        a.mov(RAX, R15);
        a.and(RAX, FIRST);
        a.mov(RAX, Assembler.stackArgument(2, SAVED));
        a.j(If.ZERO, later);
        for (int i = 0; i < sums; i++) {
            a.zero(zmm(i));
        }
        a.jmp(begin);
        a.label(later);
        for (int i = 0; i < sums; i++) {
            a.vmovdqu(zmm(i), mem(RBP, sumsAt + REGISTER * i));
        }
        a.label(begin);
        a.align(32);
        a.label(span);
        emitSpan(a, format, pair, passes, pass);
        pair.tokens(a, pass * some, some);
        a.add(RCX, tokens * pair.spreadBytes);
        a.sub(RAX, 1);
        a.j(If.NOT_ZERO, span);
        a.mov(RAX, R15);
        a.and(RAX, LAST);
        a.j(If.NOT_ZERO, last);
        for (int i = 0; i < sums; i++) {
            a.vmovdqu(mem(RBP, sumsAt + REGISTER * i), zmm(i));
        }
        a.jmp(next);
        a.label(last);
        pair.results(a, some, (token, r) -> {
            int at = (pass * some + token) * OUT_ROWS * Float.BYTES;
            return r == 0 ? mem(RDX, at) : mem(RDX, R13, 1, at);
        });
        a.label(next);
    }

    /// Gets the unpacked levels and scales of a span into registers.
    private static void emitSpan(Assembler a, BlockCode format, PairCode512 pair, int passes, int pass) {
        Vec[] unpacked = pair.unpacked();
        if (pass == 0) {
            for (Gpr w : PairCode512.ROWS) {
                RowsCode512.prefetch(a, w, format.spanBytes);
            }
            pair.unpack(a);
            for (Gpr w : PairCode512.ROWS) {
                a.add(w, format.spanBytes);
            }
        }
        if (passes == 1) {
            return;
        }
        for (int i = 0; i < unpacked.length; i++) {
            if (pass == 0) {
                a.vmovdqu(mem(R12, REGISTER * i), unpacked[i]);
            } else {
                a.vmovdqu(unpacked[i], mem(R12, REGISTER * i));
            }
        }
        a.add(R12, REGISTER * unpacked.length);
    }
}
