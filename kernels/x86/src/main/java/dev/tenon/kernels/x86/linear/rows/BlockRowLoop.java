package dev.tenon.kernels.x86.linear.rows;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;

/// Rows of a quantised format times one to four tokens: the walk over the spans of a row, which the
/// loops with AVX2 ([RowLoop256]) and AVX-512 ([RowLoop512]) share.
///
/// Each span of a row is unpacked once and multiplied with every token. The 32-bit sums of four
/// levels are added up exactly, by transposing, until lane g holds the sum of group g:
///
/// ```
/// dot[g]  = bits of c[t][g] + levels of group g · q[t]          8 or 16 groups of a span; [PackedActivations#BIAS]
/// sum[g] += (float with these bits * dx[t][g] + u[t][g]) * scale[g];  with minimums, which start with BIAS,
/// sum[g] += min[g] * c[t][g]  too
/// out[t]  = tree sum of the lanes: first the upper to the lower part, and so on
/// ```
///
/// With words (two products a lane) dots start from 0 and are converted; the rest is the same.
///
/// Tiled formats (`PackTileCode`) have two sums a lane for a tile of spans, which begin with 0 in
/// each:
///
/// ```
/// a[g]   += float with the bits of dot[g] * scale[g];  b[g] += scale[g]    for each span; a: rounded once
/// sum[g] += (a[g] - BIAS * b[g]) * dx[tile][g]                             at its end; rounded twice
/// ```
///
/// That is the order of `PanelLoop` too, so that a value is the same for any number of tokens.
///
/// Arguments: as in [RowLoop]; scales are dx (tiled: c), the length of a row is in units of 32.
///
/// Registers of a row: R10 weights, R11 q, RAX dx and c, RCX spans or units left, RBX scratch; R13
/// is the offset of scales, R15 units of a row, or spans left in a tile.
abstract class BlockRowLoop extends RowLoop {
    final BlockCode format;
    /// Bytes of a number for each group of a span.
    final int perGroup;

    BlockRowLoop(Assembler a, BlockCode format, int tokens, Gpr... saved) {
        super(a, tokens, saved);
        this.format = format;
        this.perGroup = PackedActivations.arrayBytes(format);
    }

    /// Sets the sums of a row to 0.
    abstract void emitZeros();

    /// Begins the loop over tiles: R15 has their spans, RCX those after them.
    abstract void emitTileBegin(String tile);

    /// Multiplies a span with all tokens, of each stream.
    abstract void emitSpans();

    /// Adds a tile to the sums, and ends the loop over tiles.
    abstract void emitTileEnd(String tile);

    /// Multiplies the units after the last whole span, each into its lane.
    ///
    /// @param sum where to go if there are none
    abstract void emitTail(String sum);

    /// {@return how many results a row has}
    int results() {
        return tokens;
    }

    /// Adds the lanes of a sum up.
    ///
    /// @return the register that has the result in lane 0
    abstract Vec emitResult(int i);

    @Override
    void emitStart() {
        a.mov(R13, argument(1));
        a.mov(R15, argument(3));
    }

    @Override
    final void emitRow() {
        String tile = a.fresh("tile");
        String span = a.fresh("span");
        String tail = a.fresh("tail");
        String sum = a.fresh("sum");
        a.mov(R10, RDI);
        a.mov(R11, RSI);
        a.lea(RAX, mem(RSI, R13, 1, 0));
        emitZeros();
        a.mov(RCX, format.tiled ? argument(3) : R15);
        a.shr(RCX, 3);
        if (format.tiled) {
            emitTileBegin(tile);
        } else {
            a.j(If.ZERO, tail);
        }
        a.align(32);
        a.label(span);
        emitSpans();
        a.add(R10, format.spanBytes);
        a.add(R11, BlockCode.SPAN * format.levelBytes());
        a.add(RAX, PackedActivations.scaleBytes(format));
        a.sub(format.tiled ? R15 : RCX, 1);
        a.j(If.NOT_ZERO, span);
        if (format.tiled) {
            emitTileEnd(tile);
        }
        a.label(tail);
        if (format.blockBytes > 0) {
            emitTail(sum);
        }
        a.label(sum);
        emitResults(results(), this::emitResult);
    }
}
