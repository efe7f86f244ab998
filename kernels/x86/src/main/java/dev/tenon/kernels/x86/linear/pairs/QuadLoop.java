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
import static dev.tenon.kernels.x86.asm.Operand.xmm;
import static dev.tenon.kernels.x86.asm.Operand.zmm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PairMicroKernel;
import dev.tenon.kernels.x86.block.PairScratch;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.kernels.x86.block.QuadMicroKernel;
import dev.tenon.kernels.x86.block.Tiles;

/// Four neighbouring rows at a time times some tokens, an even number, with AVX-512 VNNI, for
/// formats that have a [QuadMicroKernel].
///
/// A span of the four rows is unpacked to registers and multiplied with one token after the other,
/// whose activations are spread as for [PairLoop]. So each register of activations is loaded once
/// for four rows instead of once for two, and weights are unpacked once for all tokens; in return
/// the sums of the quad lie in memory, which the first-level cache keeps. Results are those of
/// `RowLoop512`, bit for bit.
///
/// Scratch memory: results `[MAX_TOKENS][OUT_ROWS]`, sums of a tile `[tokens][sumsPerToken][16]` at
/// [PairScratch#SUMS_OFFSET] and as much for those of the tiles before, activations `[span][token]`
/// at [PairScratch#SPREAD_OFFSET], where the scales of each tile follow it in the place of a span.
///
/// Arguments: weights, scratch, scratch, byte offset of the first row, bytes of a row, quads of
/// rows; on the stack bytes between the rows of a quad (0: four times the same row), spans, byte
/// offset of the first row's results in scratch, tokens divided by [#TOKENS].
public final class QuadLoop {
    /// Rows of a quad.
    public static final int ROWS = 4;
    /// Tokens that the innermost loop takes at once.
    public static final int TOKENS = 2;

    private static final int REGISTER = 64;
    private static final Gpr[] SAVED = {RBX, RBP, R12, R13, R14, R15};

    private QuadLoop() {}

    /// Emits the function.
    ///
    /// RDI points to the first row of the quad, QuadMicroKernel.ROWS to the spans of its rows, RCX
    /// to spread activations, R13 to the token's sums, RSI to spread activations of the first span,
    /// RBP and R9 are those of [QuadPrefetch], RDX to the quad's results, R12 to the token's; R8 is
    /// bytes of a row, R15 spans left, R12 those of the tile, R14 turns of tokens left.
    ///
    /// @param ahead how the next quad is fetched
    public static void emit(
            Assembler a, BlockCode format, PairMicroKernel pair, QuadMicroKernel quad, QuadPrefetch ahead) {
        a.push(SAVED);
        a.add(RDI, RCX);
        a.add(RSI, PairScratch.SPREAD_OFFSET);
        a.add(RDX, Assembler.stackArgument(2, SAVED.length));
        a.mov(quadsLeft(), R9);
        quad.constants(a);
        String next = a.fresh("quad");
        String done = a.fresh("quadDone");
        String tile = a.fresh("quadTile");
        String first = a.fresh("quadFirst");
        String span = a.fresh("quadSpan");
        String end = a.fresh("quadEnd");
        a.label(next);
        a.mov(R11, Assembler.stackArgument(0, SAVED.length));
        a.mov(R10, RDI);
        a.lea(RBX, mem(RDI, R11, 2, 0));
        a.lea(RAX, mem(RBX, R11, 1, 0));
        a.add(R11, RDI);
        ahead.quad(a);
        a.mov(RCX, RSI);
        a.mov(R15, Assembler.stackArgument(1, SAVED.length));
        a.label(tile);
        Tiles.begin(a, format, R12, R15);
        quad.beginTile(a);
        emitSpan(a, format, pair, quad, ahead, true);
        a.sub(R12, 1);
        a.j(If.ZERO, end);
        a.align(32);
        a.label(span);
        emitSpan(a, format, pair, quad, ahead, false);
        a.loop(R12, span);
        a.label(end);
        a.mov(R12, Assembler.stackArgument(1, SAVED.length));
        a.sub(R12, R15);
        a.cmp(R12, PanelShape.TILE);
        a.j(If.LESS_OR_EQUAL, first);
        emitEndOfTile(a, pair, quad, false, tile);
        a.jmp(done);
        a.label(first);
        emitEndOfTile(a, pair, quad, true, tile);
        a.label(done);
        a.lea(RDI, mem(RDI, R8, ROWS, 0));
        a.add(RDX, ROWS * Float.BYTES);
        a.mov(R9, quadsLeft());
        a.sub(R9, 1);
        a.mov(quadsLeft(), R9);
        a.j(If.NOT_ZERO, next);
        a.end(SAVED);
    }

    /// {@return where the number of quads left is: the place of an argument that is not used}
    private static Mem quadsLeft() {
        return Assembler.stackArgument(4, SAVED.length);
    }

    /// Multiplies a span with all tokens.
    ///
    /// @param first whether it is the first one of a tile
    private static void emitSpan(
            Assembler a,
            BlockCode format,
            PairMicroKernel pair,
            QuadMicroKernel quad,
            QuadPrefetch ahead,
            boolean first) {
        quad.unpack(a);
        ahead.span(a);
        forTokens(a, quad, () -> {
            ahead.turn(a, format);
            for (int t = 0; t < TOKENS; t++) {
                quad.token(a, t * pair.spreadBytes, t * quad.sumsPerToken * REGISTER, first);
            }
            a.add(RCX, TOKENS * pair.spreadBytes);
        });
        for (Gpr w : QuadMicroKernel.ROWS) {
            a.add(w, format.spanBytes);
        }
    }

    /// Repeats code for every turn of tokens; R13 points to their sums.
    private static void forTokens(Assembler a, QuadMicroKernel quad, Runnable body) {
        String loop = a.fresh("quadTokens");
        a.lea(R13, mem(RSI, PairScratch.SUMS_OFFSET - PairScratch.SPREAD_OFFSET));
        a.mov(R14, Assembler.stackArgument(3, SAVED.length));
        a.align(32);
        a.label(loop);
        body.run();
        a.add(R13, TOKENS * quad.sumsPerToken * REGISTER);
        a.loop(R14, loop);
    }

    /// Ends a tile and goes on with the next one, or with results.
    ///
    /// @param first whether it is the first tile
    /// @param next where the next tile begins
    private static void emitEndOfTile(
            Assembler a, PairMicroKernel pair, QuadMicroKernel quad, boolean first, String next) {
        String last = a.fresh("quadLast");
        a.cmp(R15, 0);
        a.j(If.ZERO, last);
        forTokens(a, quad, () -> {
            for (int t = 0; t < TOKENS; t++) {
                quad.endTile(a, t * pair.spreadBytes, t, first);
            }
            a.add(RCX, TOKENS * pair.spreadBytes);
        });
        a.jmp(next);
        a.label(last);
        a.mov(R12, RDX);
        forTokens(a, quad, () -> {
            quad.results(a, pair.spreadBytes, first);
            a.vmovdqu(mem(R12), xmm(0));
            a.vextracti128(mem(R12, PairScratch.OUT_ROWS * Float.BYTES), zmm(0), 1);
            a.add(R12, TOKENS * PairScratch.OUT_ROWS * Float.BYTES);
            a.add(RCX, TOKENS * pair.spreadBytes);
        });
    }
}
