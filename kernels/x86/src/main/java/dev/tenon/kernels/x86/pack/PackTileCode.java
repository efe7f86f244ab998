package dev.tenon.kernels.x86.pack;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R12;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R13;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R14;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.PanelShape;
import dev.tenon.kernels.x86.block.Tiles;

/// Quantises a row of activations for tiled formats of groups of 16 ([PackCode] shows the packed
/// row).
///
/// ```
/// for each tile of PanelShape.TILE spans, the last one perhaps partial, and each place p of a group in its span:
///
/// m           = max |x[i]| over the groups at place p of the tile's spans, at least 1e-30
/// dx[tile][p] = m / 127
/// q[i]        = round to even(x[i] * (127 / m))
/// c[span][p]  = BIAS - zero * sum of q over the group
/// ```
///
/// Rows have whole spans. Arguments: as those of [PackCode].
final class PackTileCode {
    private static final Gpr[] SAVED = {RBX, R12, R13, R14};
    private static final int GROUP = 16;
    private static final int PLACES = BlockCode.SPAN / GROUP;
    private static final int X_SPAN = BlockCode.SPAN * Float.BYTES;
    private static final int C_SPAN = PLACES * Float.BYTES;

    private static final Vec MOST = ymm(4);
    private static final Vec INVERSE = ymm(5);
    private static final Vec SIGN = ymm(6);
    private static final Vec ONE_WORDS = ymm(7);
    private static final Vec ZERO = ymm(8);
    private static final Vec BIAS = ymm(9);

    private PackTileCode() {}

    // Of a tile: RAX pieces, R9 bytes of c, RCX spans after it. Of a place in its first span: RDI x, RSI q, R8 c,
    // RDX dx, R14 piece; R12 places left, R11 bytes between pieces of two places. Of a span: RBX x, R10 piece, bytes of
    // c up to it in R13.
    /// Emits the function; 256-bit vectors do for all feature sets.
    static void emit(Assembler a, BlockCode format) {
        String tile = a.fresh("packTile");
        String place = a.fresh("packPlace");
        int piece = PackedActivations.pieceBytes(format);
        a.push(SAVED);
        a.add(RSI, R9);
        a.shr(RCX, 3);
        a.imul(R11, RCX, piece);
        a.add(RDI, RDX);
        a.add(R8, RSI);
        a.mov(RDX, RCX);
        a.shl(RDX, 6);
        a.add(RDX, R8);
        a.lea(RAX, mem(RCX, PanelShape.TILE - 1));
        a.shr(RAX, 3);
        a.shl(RAX, 6);
        a.add(RAX, RDX);
        a.vmovdqu(SIGN, a.dwords(Integer.MAX_VALUE));
        a.vmovdqu(ONE_WORDS, a.dwords(0x00010001));
        a.vmovdqu(ZERO.x(), a.constant(-format.zero));
        a.vmovdqu(BIAS.x(), a.constant(PackedActivations.BIAS));
        a.label(tile);
        Tiles.take(a, R9, RCX);
        a.shl(R9, 6);
        a.mov(R14, RAX);
        a.mov(R12, PLACES);
        a.label(place);
        emitScale(a);
        emitGroups(a, piece);
        a.add(RDI, GROUP * Float.BYTES);
        a.add(RSI, GROUP);
        a.add(R8, Float.BYTES);
        a.add(RDX, Float.BYTES);
        a.add(R14, R11);
        a.loop(R12, place);
        // to the next tile, from the end of the places of the first span
        a.add(RDI, (PanelShape.TILE - 1) * X_SPAN);
        a.add(RSI, (PanelShape.TILE - 1) * BlockCode.SPAN);
        a.add(R8, (PanelShape.TILE - 1) * C_SPAN);
        a.add(RAX, PanelShape.TILE * piece);
        a.cmp(RCX, 0);
        a.j(If.GREATER, tile);
        a.end(SAVED);
    }

    /// Computes dx of a place, and what activations are multiplied with.
    private static void emitScale(Assembler a) {
        String span = a.fresh("packMost");
        Vec other = ymm(0);
        Vec t = ymm(1);
        a.zero(MOST);
        a.zero(other);
        a.mov(RBX, RDI);
        a.mov(R13, R9);
        a.align(16);
        a.label(span);
        a.vpand(t, SIGN, mem(RBX));
        a.vpmaxud(MOST, MOST, t);
        a.vpand(t, SIGN, mem(RBX, 32));
        a.vpmaxud(other, other, t);
        a.add(RBX, X_SPAN);
        a.sub(R13, C_SPAN);
        a.j(If.NOT_ZERO, span);
        a.vpmaxud(MOST, MOST, other);
        a.foldLanes(MOST, t, a::vpmaxud);
        a.vpmaxud(MOST.x(), MOST.x(), a.constant(PackCode.TINY));
        a.vmovdqu(t.x(), a.constant(Byte.MAX_VALUE));
        a.vdivps(other.x(), MOST.x(), t.x());
        a.vmovss(mem(RDX), other);
        a.vdivps(INVERSE.x(), t.x(), MOST.x());
        a.vbroadcastss(INVERSE, INVERSE.x());
    }

    /// Quantises the groups of a place.
    private static void emitGroups(Assembler a, int piece) {
        String span = a.fresh("packGroup");
        Vec low = ymm(0);
        Vec high = ymm(1);
        Vec sum = ymm(2);
        Vec t = ymm(3);
        a.mov(R10, R14);
        a.mov(RBX, RDI);
        a.mov(R13, 0);
        a.align(16);
        a.label(span);
        // quarters 0 and 2, 1 and 3: packing, which works in lanes of 128 bits, then puts them in order
        a.vmovdqu(low.x(), mem(RBX));
        a.vinserti128(low, low, mem(RBX, 32), 1);
        a.vmovdqu(high.x(), mem(RBX, 16));
        a.vinserti128(high, high, mem(RBX, 48), 1);
        a.vmulps(low, low, INVERSE);
        a.vmulps(high, high, INVERSE);
        a.vcvtps2dq(low, low);
        a.vcvtps2dq(high, high);
        a.vpackssdw(low, low, high);
        a.vextracti128(high.x(), low, 1);
        a.vpacksswb(high.x(), low.x(), high.x());
        a.vmovdqu(mem(RSI, R13, 4, 0), high.x());
        a.vmovdqu(mem(R10), high.x());
        a.vpmaddwd(sum, low, ONE_WORDS);
        a.foldLanes(sum, t, a::vpaddd);
        a.vcvtdq2ps(sum.x(), sum.x());
        a.vfmadd213ps(sum.x(), ZERO.x(), BIAS.x());
        a.vmovss(mem(R8, R13, 1, 0), sum);
        a.vmovss(mem(R10, GROUP), sum);
        a.add(RBX, X_SPAN);
        a.add(R10, piece);
        a.add(R13, C_SPAN);
        a.cmp(R13, R9);
        a.j(If.LESS, span);
    }
}
