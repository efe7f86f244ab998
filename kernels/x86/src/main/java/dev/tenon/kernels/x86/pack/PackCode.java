package dev.tenon.kernels.x86.pack;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RCX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDI;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RSI;
import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.xmm;
import static dev.tenon.kernels.x86.asm.Operand.ymm;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.block.PackedActivations;

/// Emits the function that rounds a row of activations to bytes, or words, and writes it as a
/// packed row ([PackedActivations]).
///
/// Arguments: x, packed rows, byte offset of the row in x, units of 32, byte offset of dx in the
/// packed row, or of c in a tiled format, and byte offset of the packed row.
public final class PackCode {
    /// Least maximum; smaller activations count as 0.
    public static final float TINY = 1e-30f;

    private PackCode() {}

    /// Emits the function; 256-bit vectors do for all feature sets.
    public static void emit(Assembler a, BlockCode format) {
        if (format.tiled) {
            PackTileCode.emit(a, format);
            return;
        }
        String span = a.fresh("packSpan");
        String unit = a.fresh("packUnit");
        a.add(RSI, R9);
        // R10: the piece at hand, R11: bytes from one place to the next, RAX: the first piece of the span
        a.lea(RAX, mem(RCX, 7));
        a.shr(RAX, 3);
        a.imul(R11, RAX, PackedActivations.pieceBytes(format));
        a.imul(RAX, RAX, PackedActivations.spanBytes(format));
        a.add(RAX, 63);
        a.and(RAX, -64);
        a.add(RAX, RSI);
        a.add(RDI, RDX);
        a.add(R8, RSI);
        a.label(span);
        a.mov(R10, RAX);
        a.mov(R9, 8);
        a.cmp(R9, RCX);
        a.cmov(If.GREATER, R9, RCX);
        a.sub(RCX, R9);
        a.align(16);
        a.label(unit);
        if (format.words) {
            emitUnitOfWords(a);
        } else {
            emitUnit(a, format);
        }
        a.add(RDI, 32 * Float.BYTES);
        a.add(RSI, 32 * format.levelBytes());
        a.add(R8, 32 / format.group * Float.BYTES);
        a.lea(R10, mem(R10, R11, 32 / format.group, 0));
        a.loop(R9, unit);
        a.add(R8, PackedActivations.scaleBytes(format) - PackedActivations.arrayBytes(format));
        a.add(RAX, PackedActivations.pieceBytes(format));
        a.cmp(RCX, 0);
        a.j(If.GREATER, span);
        a.end();
    }

    private static void emitUnitOfWords(Assembler a) {
        Vec m = ymm(4);
        Vec t = ymm(5);
        Vec most = ymm(6);
        a.vmovdqu(t, a.dwords(Integer.MAX_VALUE));
        for (int i = 0; i < 4; i++) {
            a.vmovdqu(ymm(i), mem(RDI, 32 * i));
        }
        a.vpand(m, t, ymm(0));
        for (int i = 1; i < 4; i++) {
            a.vpand(most, t, ymm(i));
            a.vpmaxud(m, m, most);
        }
        a.foldLanes(m, t, a::vpmaxud);
        a.vpmaxud(m.x(), m.x(), a.constant(TINY));
        a.vmovdqu(most.x(), a.constant(Short.MAX_VALUE));
        a.vdivps(t.x(), m.x(), most.x());
        a.vmovss(mem(R8), t);
        a.vmovss(mem(R10, 64), t);
        a.vdivps(m.x(), most.x(), m.x());
        a.vbroadcastss(m, m.x());
        for (int i = 0; i < 4; i++) {
            a.vmulps(ymm(i), ymm(i), m);
            a.vcvtps2dq(ymm(i), ymm(i));
        }
        a.vmovdqu(t, a.constant(i -> i & 1 | (i & 2) << 1 | (i & 4) >> 1));
        for (int i = 0; i < 4; i += 2) {
            a.vpackssdw(ymm(i), ymm(i), ymm(i + 1));
            a.vpermd(ymm(i), t, ymm(i));
            a.vmovdqu(mem(RSI, 16 * i), ymm(i));
            a.vmovdqu(mem(R10, 16 * i), ymm(i));
        }
    }

    /// 32 elements: their levels, and the scales of their one or two groups.
    ///
    /// Registers: 0 to 3 the elements, then their levels; 6 dx, 9 c, 5 u, in lane 0 for the first
    /// group and in lane 1 for the second; the others hold what is needed for a moment.
    private static void emitUnit(Assembler a, BlockCode format) {
        for (int i = 0; i < 4; i++) {
            a.vmovdqu(ymm(i), mem(RDI, 32 * i));
        }
        Vec most = ymm(4);
        Vec dx = ymm(6);
        Vec sums = ymm(9);
        Vec u = ymm(5);
        emitMaxima(a, format, most);
        emitLevels(a, most, dx);
        emitSums(a, format, sums);
        emitCorrections(a, format, dx, sums, u);
        emitScales(a, format, dx, sums, u);
        emitBytes(a, format);
    }

    /// Takes the greatest magnitude of each group, at least [#TINY].
    ///
    /// @param m the maxima in lanes 0 and 1
    private static void emitMaxima(Assembler a, BlockCode format, Vec m) {
        Vec n = ymm(5);
        Vec sign = ymm(6);
        Vec t = ymm(7);
        a.vmovdqu(sign, a.dwords(Integer.MAX_VALUE));
        a.vpand(m, sign, ymm(0));
        a.vpand(t, sign, ymm(1));
        a.vpmaxud(m, m, t);
        a.vpand(n, sign, ymm(2));
        a.vpand(t, sign, ymm(3));
        a.vpmaxud(n, n, t);
        a.vextracti128(t.x(), m, 1);
        a.vpmaxud(m.x(), m.x(), t.x());
        a.vextracti128(t.x(), n, 1);
        a.vpmaxud(n.x(), n.x(), t.x());
        a.vpunpckldq(t.x(), m.x(), n.x());
        a.vpunpckhdq(m.x(), m.x(), n.x());
        a.vpmaxud(m.x(), m.x(), t.x());
        a.vpshufd(t.x(), m.x(), 0x4E);
        a.vpmaxud(m.x(), m.x(), t.x());
        if (format.group == 32) {
            a.vpshufd(t.x(), m.x(), 0xB1);
            a.vpmaxud(m.x(), m.x(), t.x());
        }
        a.vpmaxud(m.x(), m.x(), a.constant(TINY));
    }

    /// Divides by the scales and rounds.
    ///
    /// @param m the maxima; not kept
    /// @param dx the scales that were used
    private static void emitLevels(Assembler a, Vec m, Vec dx) {
        Vec n = ymm(5);
        Vec[] inverse = {ymm(7), ymm(8)};
        a.vmovdqu(n.x(), a.constant(127f));
        a.vdivps(dx.x(), m.x(), n.x());
        a.vpand(dx.x(), dx.x(), a.dwords(-4));
        a.vdivps(m.x(), n.x(), m.x());
        a.vpshufd(inverse[1].x(), m.x(), 0x55);
        a.vbroadcastss(inverse[0], m.x());
        a.vbroadcastss(inverse[1], inverse[1].x());
        for (int i = 0; i < 4; i++) {
            a.vmulps(ymm(i), ymm(i), inverse[i >> 1]);
            a.vcvtps2dq(ymm(i), ymm(i));
        }
    }

    /// Adds the levels of each group up.
    ///
    /// @param sums the sums as floats, in lanes 0 and 1
    private static void emitSums(Assembler a, BlockCode format, Vec sums) {
        Vec sumA = ymm(4);
        Vec sumB = ymm(5);
        // sums of 16 in pairs of lanes: a a b b
        a.vpaddd(sumA, ymm(0), ymm(1));
        a.vpaddd(sumB, ymm(2), ymm(3));
        a.vpunpcklqdq(sums, sumA, sumB);
        a.vpunpckhqdq(sumA, sumA, sumB);
        a.vpaddd(sums, sums, sumA);
        a.vextracti128(sumA.x(), sums, 1);
        a.vpaddd(sums.x(), sums.x(), sumA.x());
        a.vpshufd(sumA.x(), sums.x(), 0xB1);
        a.vpaddd(sums.x(), sums.x(), sumA.x());
        if (format.group == 32) {
            a.vpshufd(sumA.x(), sums.x(), 0x4E);
            a.vpaddd(sums.x(), sums.x(), sumA.x());
        } else {
            a.vpshufd(sums.x(), sums.x(), 0x08);
        }
        a.vcvtdq2ps(sums.x(), sums.x());
    }

    /// Makes c and u.
    ///
    /// @param dx the scales
    /// @param c the sums of levels, which become c
    /// @param u becomes u
    private static void emitCorrections(Assembler a, BlockCode format, Vec dx, Vec c, Vec u) {
        Vec t = ymm(4);
        a.vmovdqu(t.x(), a.constant(-format.zero));
        if (format.mins) {
            a.vmulps(t.x(), t.x(), dx.x());
            a.vmulps(c.x(), c.x(), t.x());
        } else {
            a.vfmadd213ps(c.x(), t.x(), a.constant(PackedActivations.BIAS));
        }
        a.vmulps(u.x(), dx.x(), a.constant(-PackedActivations.BIAS));
    }

    /// Stores the scales after the levels and in the pieces.
    private static void emitScales(Assembler a, BlockCode format, Vec dx, Vec c, Vec u) {
        int group = format.group;
        Vec[] scales = {dx, c, u};
        for (int i = 0; i < scales.length; i++) {
            if (group == 32) {
                a.vmovss(mem(R8, i * PackedActivations.arrayBytes(format)), scales[i]);
            } else {
                a.vmovq(mem(R8, i * PackedActivations.arrayBytes(format)), scales[i]);
            }
        }
        for (int i = 0; i < scales.length; i++) {
            a.vmovss(mem(R10, group + Float.BYTES * i), scales[i]);
            if (group == 16) {
                a.vextractps(mem(R10, R11, 1, group + Float.BYTES * i), scales[i], 1);
            }
        }
    }

    /// Stores the levels as bytes, as a row and in the pieces.
    private static void emitBytes(Assembler a, BlockCode format) {
        a.vpackssdw(ymm(0), ymm(0), ymm(1));
        a.vpackssdw(ymm(2), ymm(2), ymm(3));
        a.vpacksswb(ymm(0), ymm(0), ymm(2));
        a.vmovdqu(ymm(1), a.constant(i -> (i & 1) * 4 + (i >> 1)));
        a.vpermd(ymm(0), ymm(1), ymm(0));
        a.vmovdqu(mem(RSI), ymm(0));
        if (format.group == 32) {
            a.vmovdqu(mem(R10), ymm(0));
        } else {
            a.vmovdqu(mem(R10), xmm(0));
            a.vextracti128(mem(R10, R11, 1, 0), ymm(0), 1);
        }
    }
}
