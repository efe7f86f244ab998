package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.zmm;
import static dev.tenon.kernels.x86.block.PairMicroKernel.SELECT;
import static dev.tenon.kernels.x86.format.Q6_KBlock.D;
import static dev.tenon.kernels.x86.format.Q6_KBlock.QH;
import static dev.tenon.kernels.x86.format.Q6_KBlock.SCALES;
import static dev.tenon.kernels.x86.format.Q6_KBlock.TOP;
import static dev.tenon.kernels.x86.format.Q6_KBlock.group;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.StreamMicroKernel;

/// Four rows of Q6_K (Q6_K) at once.
///
/// The 16-byte pieces of both parts of the low bits are put together by eights. So a register has
/// groups b and b + 8 in its 128-bit lane b, two 32-bit lanes each, and both of its parts add to
/// the same sums:
///
/// ```
/// low part of ql   lane b: groups b, b + 8          high part   lane b: groups b + 4, b + 12
/// sums of a row    lane b: groups b, b + 8, b + 4, b + 12
/// ```
///
/// Beside its sum a row has two of the tile at hand: of products, and of scales.
public final class Q6_KStreams extends StreamMicroKernel {
    /// Spread: levels, then what dot products start with.
    private static final int START = 256;

    /// Where d of the rows is for a moment: in the 128 bytes below the stack that are a function's.
    private static final int D_BELOW = -24;

    private static final Vec LOW_DOTS = zmm(0);
    private static final Vec HIGH_DOTS = zmm(1);
    private static final Vec[] START_OF_DOTS = Operand.zmms(2, 2);
    /// Of the tile: sums of products, and of scales.
    private static final Vec[] PRODUCTS = Operand.zmms(4, 4);
    private static final Vec[] SCALE_SUMS = Operand.zmms(8, 4);
    private static final Vec[] SUMS = Operand.zmms(12, 4);
    private static final Vec T = zmm(16);
    private static final Vec LOW = zmm(17);
    private static final Vec PART = zmm(18);
    private static final Vec HIGH_0 = zmm(19);
    private static final Vec HIGH_2 = zmm(20);
    private static final Vec HIGH = zmm(21);
    private static final Vec[] Q = Operand.zmms(22, 4);
    private static final Vec NIBBLE = zmm(27);
    private static final Vec PAIRS = zmm(28);
    private static final Vec[] EIGHTS = Operand.zmms(29, 2);
    private static final Vec SCALE_BYTES = zmm(31);

    public Q6_KStreams() {
        super(START + 128);
    }

    @Override
    public void spread(Assembler a, Gpr q, Gpr dx, Gpr to) {
        Vec t = zmm(0);
        Vec u = zmm(1);
        for (int high = 0; high < 2; high++) {
            a.vmovdqu(t, mem(q, 64 * high));
            a.vpunpcklqdq(u, t, mem(q, 128 + 64 * high));
            a.vpunpckhqdq(t, t, mem(q, 128 + 64 * high));
            a.vmovdqu(mem(to, 128 * high), u);
            a.vmovdqu(mem(to, 128 * high + 64), t);
            int h = high;
            a.vmovdqu(t, a.constant(i -> i / 4 + 8 * (i % 4 / 2) + 4 * h));
            a.vpermps(t, t, mem(dx));
            a.vpand(t, t, a.constant(i -> i % 2 == 0 ? -1 : 0));
            a.vmovdqu(mem(to, START + 64 * high), t);
        }
    }

    @Override
    public void spreadTile(Assembler a, Gpr dx, Gpr to) {
        Vec t = zmm(0);
        a.vmovdqu(t, a.constant(Q6_KBlock::group));
        a.vpermps(t, t, mem(dx));
        a.vmovdqu(mem(to), t);
    }

    @Override
    public void constants(Assembler a) {
        a.vmovdqu(NIBBLE, a.dwords(0x0F0F0F0F));
        a.vmovdqu(PAIRS, a.dwords(0x33333333));
        for (int e = 0; e < 2; e++) {
            int eight = e;
            // 64-bit indices: eight bytes of lane b % 2 and of b % 2 + 2; from the second table for b >= 2
            a.vmovdqu(
                    EIGHTS[e],
                    a.constant(i -> i % 2 != 0 ? 0 : 2 * (i / 4 % 2 + i % 4 / 2 * 2) + eight + (i < 8 ? 0 : 8)));
        }
        a.vmovdqu(SCALE_BYTES, a.constant(i -> group(i) << 24 | 0x808080));
    }

    @Override
    public Vec[] sums() {
        return Operand.zmms(PRODUCTS[0].number(), 12);
    }

    @Override
    public void span(Assembler a) {
        Vec d = T.x();
        a.zero(d);
        for (int r = 0; r < ROWS.length; r++) {
            a.vpinsrw(d, d, mem(ROWS[r], D), r);
        }
        a.vcvtph2ps(d, d);
        a.vmulps(d, d, a.constant(TOP));
        a.vmovdqu(mem(Gpr.RSP, D_BELOW), d);
        for (int high = 0; high < 2; high++) {
            a.vmovdqu(START_OF_DOTS[high], x(START + 64 * high));
        }
        for (int i = 0; i < 4; i++) {
            a.vmovdqu(Q[i], x(64 * i));
        }
        for (int r = 0; r < ROWS.length; r++) {
            emitDots(a, ROWS[r]);
            addPairs(a, LOW_DOTS, LOW_DOTS, HIGH_DOTS, T, false);
            a.vbroadcasti32x4(PART, mem(ROWS[r], SCALES));
            a.vpshufb(PART, PART, SCALE_BYTES);
            a.vcvtdq2ps(PART, PART);
            a.vmulps(PART, PART, mem(Gpr.RSP, D_BELOW + Float.BYTES * r).bcst());
            a.vfmadd231ps(PRODUCTS[r], LOW_DOTS, PART);
            a.vaddps(SCALE_SUMS[r], SCALE_SUMS[r], PART);
        }
    }

    private static void emitDots(Assembler a, Gpr w) {
        a.vpand(HIGH_0, PAIRS, mem(w, QH));
        a.vpsrld(HIGH_2, mem(w, QH), 2);
        a.vpand(HIGH_2, HIGH_2, PAIRS);
        a.vmovdqu(LOW, mem(w));
        a.vmovdqu(LOW_DOTS, START_OF_DOTS[0]);
        a.vmovdqu(HIGH_DOTS, START_OF_DOTS[1]);
        for (int e = 0; e < 2; e++) {
            a.vmovdqu(HIGH, EIGHTS[e]);
            a.vpermi2q(HIGH, HIGH_0, HIGH_2);
            if (e == 0) {
                a.vpunpcklqdq(PART, LOW, mem(w, 64));
            } else {
                a.vpunpckhqdq(PART, LOW, mem(w, 64));
            }
            a.vpslld(T, HIGH, 4);
            a.vpternlogd(T, PART, NIBBLE, SELECT);
            a.vpdpbusd(LOW_DOTS, T, Q[e]);
            a.vpsrld(PART, PART, 4);
            a.vpternlogd(HIGH, PART, NIBBLE, SELECT);
            a.vpdpbusd(HIGH_DOTS, HIGH, Q[2 + e]);
        }
    }

    @Override
    public void endTile(Assembler a) {
        Operand bias = a.constant(-PackedActivations.BIAS);
        a.vmovdqu(T, x(0));
        for (int r = 0; r < ROWS.length; r++) {
            a.vfmadd231ps(PRODUCTS[r], SCALE_SUMS[r], bias);
            a.vfmadd231ps(SUMS[r], PRODUCTS[r], T);
            a.zero(PRODUCTS[r]);
            a.zero(SCALE_SUMS[r]);
        }
    }

    @Override
    public void results(Assembler a) {
        Vec t = zmm(4);
        addPairs(a, zmm(0), SUMS[0], SUMS[1], t, true);
        addPairs(a, zmm(1), SUMS[2], SUMS[3], t, true);
        addPairs(a, zmm(0), zmm(0), zmm(1), t, true);
        addBlocks(a, zmm(0), t);
    }
}
