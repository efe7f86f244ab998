package dev.tenon.kernels.x86.format;

import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.zmm;
import static dev.tenon.kernels.x86.format.Q4_KBlock.QS;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import dev.tenon.kernels.x86.asm.Operand.Vec;
import dev.tenon.kernels.x86.block.PackedActivations;
import dev.tenon.kernels.x86.block.StreamMicroKernel;

/// Four rows of Q4_K at once.
///
/// Of each 32 bytes of levels the first 16 are put together, and the second 16. So a register has
/// the even (low bits) or odd groups of a row in its 128-bit lanes, and both of its parts add to
/// the same sums. In the end lanes are rows:
///
/// ```
/// even   lane b: group 2 b of rows 0 to 3          odd   lane b: group 2 b + 1 of rows 0 to 3
/// ```
///
/// Levels of odd groups stay where they are, in the upper four bits, and make dot products 16 times
/// as large; dx and u of these groups are a sixteenth, which changes no bit of the results: u
/// cancels all of [PackedActivations#BIAS].
public final class Q4_KStreams extends StreamMicroKernel {
    /// Spread: levels, then dx, u and c, each of even and odd groups.
    private static final int DX = 256;
    private static final int U = DX + 128;
    private static final int C = U + 128;

    private static final Vec[][] DOTS = {Operand.zmms(0, 4), Operand.zmms(4, 4)};
    private static final Vec[] SUMS = Operand.zmms(8, 2);
    private static final Vec FIRST = zmm(10);
    private static final Vec SECOND = zmm(11);
    private static final Vec T = zmm(12);
    private static final Vec SCALES = zmm(13);
    private static final Vec[] Q = Operand.zmms(14, 4);
    private static final Vec[] FACTORS = Operand.zmms(18, 2);
    private static final Vec BIAS = zmm(20);
    private static final Vec NIBBLE = zmm(21);
    private static final Vec SHIFT = zmm(22);
    private static final Vec LOW_MASK = zmm(23);
    private static final Vec HIGH_MASK = zmm(24);
    private static final Vec[] PIECES = Operand.zmms(25, 2);
    private static final Vec[] BYTES = Operand.zmms(27, 2);
    private static final Vec D = zmm(29);
    private static final Vec[] D_LANES = Operand.zmms(30, 2);

    public Q4_KStreams() {
        super(C + 128);
    }

    @Override
    public void spread(Assembler a, Gpr q, Gpr dx, Gpr to) {
        Vec[] v = Operand.zmms(0, 4);
        Vec t = zmm(4);
        for (int i = 0; i < 4; i++) {
            a.vmovdqu(v[i], mem(q, 64 * i));
        }
        for (int odd = 0; odd < 2; odd++) {
            Vec x = zmm(5);
            Vec y = zmm(6);
            a.vshufi64x2(x, v[0], v[1], odd == 0 ? 0x44 : 0xEE);
            a.vshufi64x2(y, v[2], v[3], odd == 0 ? 0x44 : 0xEE);
            a.vshufi64x2(t, x, y, EVEN_LANES);
            a.vmovdqu(mem(to, 128 * odd), t);
            a.vshufi64x2(t, x, y, ODD_LANES);
            a.vmovdqu(mem(to, 128 * odd + 64), t);
            int o = odd;
            a.vmovdqu(t, a.constant(i -> i / 4 * 2 + o));
            int[] from = {0, 64, 32};
            int[] at = {DX, U, C};
            for (int i = 0; i < 3; i++) {
                a.vpermps(x, t, mem(dx, from[i]));
                if (odd == 1 && at[i] != C) {
                    a.vmulps(x, x, a.constant(0x1p-4f));
                }
                a.vmovdqu(mem(to, at[i] + 64 * odd), x);
            }
        }
    }

    @Override
    public void constants(Assembler a) {
        load(a, BIAS, i -> i % 4 == 0 ? Float.floatToRawIntBits(PackedActivations.BIAS) : 0);
        load(a, NIBBLE, i -> 0x0F0F0F0F);
        // The words of a head are d and dmin, scales, minimums, what is left of both: see Q4_KBlock.
        load(a, SHIFT, i -> i % 4 == 3 ? 4 : 0);
        load(a, LOW_MASK, i -> i % 4 < 2 ? 0x3F3F3F3F : 0x0F0F0F0F);
        load(a, HIGH_MASK, i -> i % 4 < 2 ? 0 : 0x30303030);
        for (int k = 0; k < 2; k++) {
            int second = k;
            load(a, PIECES[k], i -> 4 * (i % 4) + (i < 8 ? 0 : 2) + second);
            load(a, BYTES[k], i -> 0x80808000 | 4 * (i % 4) + i / 4 % 2 * 2 + second);
            load(a, D_LANES[k], i -> i % 4 * 2 + second);
        }
        load(a, D, i -> 4 * (i % 4));
    }

    @Override
    public Vec[] sums() {
        return SUMS;
    }

    @Override
    public void span(Assembler a) {
        for (int i = 0; i < 4; i++) {
            a.vmovdqu(Q[i], x(64 * i));
        }
        for (int r = 0; r < ROWS.length; r++) {
            a.vmovdqu(SECOND, mem(ROWS[r], QS));
            a.vshufi64x2(FIRST, SECOND, mem(ROWS[r], QS + 64), EVEN_LANES);
            a.vshufi64x2(SECOND, SECOND, mem(ROWS[r], QS + 64), ODD_LANES);
            for (int odd = 0; odd < 2; odd++) {
                Vec dots = DOTS[odd][r];
                a.vmovdqu(dots, BIAS);
                for (int part = 0; part < 2; part++) {
                    Vec bytes = part == 0 ? FIRST : SECOND;
                    if (odd == 0) {
                        a.vpand(T, NIBBLE, bytes);
                    } else {
                        a.vpandn(T, NIBBLE, bytes);
                    }
                    a.vpdpbusd(dots, T, Q[2 * odd + part]);
                }
            }
        }
        for (Vec[] dots : DOTS) {
            addLanes(a, dots, T);
        }
        emitFactors(a);
    }

    /// Makes scales and minimums of the heads and adds what they multiply.
    private static void emitFactors(Assembler a) {
        Vec heads = FIRST;
        Vec bytes = SECOND;
        gather(a, heads, 0);
        a.vpshufd(bytes, heads, 0xF9);
        a.vpsrlvd(bytes, bytes, SHIFT);
        a.vpand(bytes, bytes, LOW_MASK);
        a.vpshufd(T, heads, 0x90);
        a.vpsrld(T, T, 2);
        a.vpternlogd(bytes, T, HIGH_MASK, 0xF8);
        a.vpermd(heads, D, heads);
        a.vcvtph2ps(heads.y(), heads.x());
        for (int min = 0; min < 2; min++) {
            a.vpermps(FACTORS[min], D_LANES[min], heads);
            a.vpermd(min == 0 ? SCALES : bytes, PIECES[min], bytes);
        }
        for (int odd = 0; odd < 2; odd++) {
            Vec dots = DOTS[odd][0];
            Vec dx = DOTS[odd][1];
            a.vmovdqu(dx, x(DX + 64 * odd));
            a.vfmadd213ps(dots, dx, x(U + 64 * odd));
            factor(a, SCALES, 0, odd);
            a.vfmadd231ps(SUMS[odd], dots, T);
            factor(a, bytes, 1, odd);
            a.vfmadd231ps(SUMS[odd], T, x(C + 64 * odd));
        }
    }

    private static void factor(Assembler a, Vec pieces, int min, int odd) {
        a.vpshufb(T, pieces, BYTES[odd]);
        a.vcvtdq2ps(T, T);
        a.vmulps(T, T, FACTORS[min]);
    }

    @Override
    public void results(Assembler a) {
        Vec t = zmm(4);
        for (Vec v : SUMS) {
            addBlocks(a, v, t);
        }
        a.vaddps(zmm(0).x(), SUMS[0].x(), SUMS[1].x());
    }
}
