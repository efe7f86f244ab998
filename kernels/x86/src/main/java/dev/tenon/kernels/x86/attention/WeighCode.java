package dev.tenon.kernels.x86.attention;

import static dev.tenon.kernels.x86.asm.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.asm.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand;
import dev.tenon.kernels.x86.asm.Operand.Mem;
import dev.tenon.kernels.x86.asm.Operand.Vec;

/// Turns rows of 64 scores into softmax weights, in scratch memory, one row after the other.
///
/// ```
///   s0 s1 s2 s3   64 scores, those out of sight -∞ (AVX2: each in two registers, 2i and 2i + 1)
///   m             the greatest of them and of max[row], in all lanes
///   keep[row]     e^(max[row] - m)
///   w0 w1 w2 w3   e^(s - m), to scratch
///   sum[row]      sum[row] · keep[row] + tree((w0 + w2) + (w1 + w3))
/// ```
///
/// The exponential, of x in a register ([#exp]): n = round(x / ln 2) is left in the low bits of a
/// float by adding 1.5 · 2²³; r = x - n ln 2; a polynomial of r; n is added to the exponent's bits;
/// below -86.5 the lane becomes 0.
///
/// Registers: scores from 0 on; then the greatest and the factor; three temporaries of each
/// exponential. Constants are in 20 to 29 with AVX-512, with AVX2 in memory.
final class WeighCode {
    private static final float LOWEST = -86.5f;
    private static final float ROUND = 12582912f;
    private static final int FIRST_CONSTANT = 20;

    private final Assembler a;
    private final int bits;
    /// Registers of 16 scores.
    private final int parts;
    private final int scores;
    private final Vec m;
    private final Vec keep;
    private final Operand log2e;
    private final Operand round;
    private final Operand minusLn2High;
    private final Operand minusLn2Low;
    private final Operand[] coefficients = new Operand[6];
    private final Operand lowest;
    private final Operand unseen;
    private int constants;

    private WeighCode(Assembler a) {
        this.a = a;
        bits = a.evex ? 512 : 256;
        parts = 512 / bits;
        scores = 4 * parts;
        m = vec(scores);
        keep = vec(scores + 1);
        log2e = constant(1.44269504f);
        round = constant(ROUND);
        minusLn2High = constant(-0.693359375f);
        minusLn2Low = constant(2.12194440e-4f);
        float[] taylor = {1 / 720f, 1 / 120f, 1 / 24f, 1 / 6f, 0.5f, 1};
        for (int i = 0; i < taylor.length; i++) {
            coefficients[i] = constant(taylor[i]);
        }
        lowest = constant(LOWEST);
        unseen = constant(Float.NEGATIVE_INFINITY);
    }

    /// Emits the rest of a subroutine, with its return: for RBX rows (clobbered) from row R15 on,
    /// whose scores are the first in scratch memory.
    static void emit(Assembler a) {
        new WeighCode(a).emit();
    }

    private Vec vec(int number) {
        return new Vec(number, bits);
    }

    /// {@return a register that has a constant in all lanes, or memory that has it}
    private Operand constant(float value) {
        Mem memory = a.constant(value);
        if (!a.evex) {
            return memory;
        }
        Vec v = vec(FIRST_CONSTANT + constants++);
        a.vmovdqu(v, memory);
        return v;
    }

    // RAX scores, R10 row, R11 its factor.
    private void emit() {
        String row = a.fresh("weighRow");
        Vec t = vec(scores + 2);
        a.mov(RAX, RDX);
        a.mov(R10, R15);
        a.lea(R11, mem(RDX, AttentionCode.KEEP));
        a.label(row);
        emitSeen(t);
        emitGreatest(t);
        a.vmovss(keep, mem(R8, R10, Float.BYTES, 0));
        a.vmaxps(m.x(), m.x(), keep.x());
        a.vmovss(mem(R8, R10, Float.BYTES, 0), m);
        a.vsubps(keep.x(), keep.x(), m.x());
        exp(keep.x(), 0);
        a.vmovss(mem(R11), keep);
        a.vbroadcastss(m, m.x());
        for (int v = 0; v < scores; v++) {
            a.vsubps(vec(v), vec(v), m);
            exp(vec(v), v);
            a.vmovdqu(mem(RAX, v * bits / 8), vec(v));
        }
        for (int p = 0; p < parts; p++) {
            a.vaddps(vec(p), vec(p), vec(2 * parts + p));
            a.vaddps(vec(parts + p), vec(parts + p), vec(3 * parts + p));
            a.vaddps(vec(p), vec(p), vec(parts + p));
        }
        if (parts == 2) {
            a.vaddps(vec(0), vec(0), vec(1));
        }
        a.sumLanes(vec(0), t);
        a.vfmadd231ss(vec(0), keep, mem(R9, R10, Float.BYTES, 0));
        a.vmovss(mem(R9, R10, Float.BYTES, 0), vec(0));
        a.add(RAX, AttentionCode.WEIGHTS_ROW);
        a.add(R10, 1);
        a.add(R11, Float.BYTES);
        a.loop(RBX, row);
        a.ret();
    }

    /// Loads the scores.
    private void emitSeen(Vec t) {
        if (a.evex) {
            for (int v = 0; v < scores; v++) {
                a.vblendmps(vec(v), v + 1, (Vec) unseen, mem(RAX, v * bits / 8));
            }
            return;
        }
        a.vmovdqu(t, unseen);
        for (int v = 0; v < scores; v++) {
            a.vmovdqu(vec(v), mem(RDX, AttentionCode.SEEN + v * bits / 8));
            a.vblendvps(vec(v), t, mem(RAX, v * bits / 8), vec(v));
        }
    }

    /// Leaves the greatest score in lane 0 of `m`.
    private void emitGreatest(Vec t) {
        for (int p = 0; p < parts; p++) {
            Vec greatest = p == 0 ? m : keep;
            a.vmaxps(greatest, vec(p), vec(parts + p));
            a.vmaxps(t, vec(2 * parts + p), vec(3 * parts + p));
            a.vmaxps(greatest, greatest, t);
        }
        if (parts == 2) {
            a.vmaxps(m, m, keep);
        }
        a.foldLanes(m, t, a::vmaxps);
    }

    /// Computes e to the power of each lane.
    ///
    /// @param x arguments, not above 0; receives the powers
    /// @param turn says which temporaries are used, so that calls in a row use others
    private void exp(Vec x, int turn) {
        int width = x.bits();
        int first = scores + 2;
        int mask = 5 + turn % 3;
        Vec s = new Vec(a.evex ? first + 1 + 2 * (turn % 4) : first + 3 * (turn % 2), width);
        Vec q = new Vec(s.number() + 1, width);
        Vec low = new Vec(s.number() + 2, width);
        if (a.evex) {
            a.vcmpnltps(mask, x, of(lowest, width));
        } else {
            a.vcmpltps(low, x, of(lowest, width));
        }
        a.vmovdqu(s, of(round, width));
        a.vfmadd231ps(s, x, of(log2e, width));
        a.vsubps(q, s, of(round, width));
        a.vfmadd231ps(x, q, of(minusLn2High, width));
        a.vfmadd231ps(x, q, of(minusLn2Low, width));
        a.vmovdqu(q, of(coefficients[1], width));
        a.vfmadd231ps(q, x, of(coefficients[0], width));
        for (int i = 2; i < coefficients.length; i++) {
            a.vfmadd213ps(q, x, of(coefficients[i], width));
        }
        a.vfmadd213ps(q, x, of(coefficients[5], width));
        a.vpslld(s, s, 23);
        if (a.evex) {
            a.vpaddd(x, mask, q, s);
        } else {
            a.vpaddd(x, q, s);
            a.vpandn(x, low, x);
        }
    }

    private static Operand of(Operand constant, int bits) {
        return constant instanceof Vec v ? new Vec(v.number(), bits) : constant;
    }
}
