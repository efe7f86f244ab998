package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.Gpr.R10;
import static dev.tenon.kernels.x86.Operand.Gpr.R11;
import static dev.tenon.kernels.x86.Operand.Gpr.R15;
import static dev.tenon.kernels.x86.Operand.Gpr.R8;
import static dev.tenon.kernels.x86.Operand.Gpr.R9;
import static dev.tenon.kernels.x86.Operand.Gpr.RAX;
import static dev.tenon.kernels.x86.Operand.Gpr.RBX;
import static dev.tenon.kernels.x86.Operand.Gpr.RDX;
import static dev.tenon.kernels.x86.Operand.mem;
import static dev.tenon.kernels.x86.Operand.zmm;

import dev.tenon.kernels.x86.Assembler.If;
import dev.tenon.kernels.x86.Operand.Vec;

/// Turns rows of 64 scores into softmax weights, in scratch memory, one row after the other.
///
/// ```
///   s0 s1 s2 s3   64 scores, those out of sight -∞
///   m             the greatest of them and of max[row], in all lanes
///   keep[row]     e^(max[row] - m)
///   w0 w1 w2 w3   e^(s - m), to scratch
///   sum[row]      sum[row] · keep[row] + tree((w0 + w2) + (w1 + w3))
/// ```
///
/// The exponential, of x in a register ([#exp]): n = round(x / ln 2) is left in the low bits of a float by adding 1.5 ·
/// 2²³; r = x - n ln 2; a polynomial of r; n is added to the exponent's bits; below -86.5 the lane becomes 0.
final class WeighCode {
    private static final float LOWEST = -86.5f;
    private static final float ROUND = 12582912f;
    private static final int FIRST_CONSTANT = 20;
    private static final Vec M = zmm(4);
    private static final Vec KEEP = zmm(5);
    private static final Vec T = zmm(6);

    private final Assembler a;
    private final Vec log2e;
    private final Vec round;
    private final Vec minusLn2High;
    private final Vec minusLn2Low;
    private final Vec[] coefficients = new Vec[6];
    private final Vec lowest;
    private final Vec unseen;
    private int constants;

    private WeighCode(Assembler a) {
        this.a = a;
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

    /// Emits the rest of a subroutine, with its return: for RBX rows (clobbered) from row R15 on, whose scores are the
    /// first in scratch memory.
    static void emit(Assembler a) {
        new WeighCode(a).emit();
    }

    /// Loads a constant.
    ///
    /// @return its register
    private Vec constant(float value) {
        Vec v = zmm(FIRST_CONSTANT + constants++);
        a.vmovdqu(v, a.constant(lane -> Float.floatToRawIntBits(value)));
        return v;
    }

    // RAX scores, R10 row, R11 its factor.
    private void emit() {
        String row = a.fresh("weighRow");
        a.mov(RAX, RDX);
        a.mov(R10, R15);
        a.lea(R11, mem(RDX, AttentionCode.KEEP));
        a.label(row);
        for (int v = 0; v < 4; v++) {
            a.vblendmps(zmm(v), v + 1, unseen, mem(RAX, 64 * v));
        }
        a.vmaxps(M, zmm(0), zmm(1));
        a.vmaxps(T, zmm(2), zmm(3));
        a.vmaxps(M, M, T);
        a.vextracti64x4(T.y(), M, 1);
        a.vmaxps(M.y(), M.y(), T.y());
        a.vextracti128(T.x(), M.y(), 1);
        a.vmaxps(M.x(), M.x(), T.x());
        a.vpshufd(T.x(), M.x(), 0x4E);
        a.vmaxps(M.x(), M.x(), T.x());
        a.vpshufd(T.x(), M.x(), 0xB1);
        a.vmaxps(M.x(), M.x(), T.x());
        a.vmovss(KEEP, mem(R8, R10, Float.BYTES, 0));
        a.vmaxps(M.x(), M.x(), KEEP.x());
        a.vmovss(mem(R8, R10, Float.BYTES, 0), M);
        a.vsubps(KEEP.x(), KEEP.x(), M.x());
        exp(KEEP.x(), zmm(7), zmm(8), 7);
        a.vmovss(mem(R11), KEEP);
        a.vbroadcastss(M, M.x());
        for (int v = 0; v < 4; v++) {
            a.vsubps(zmm(v), zmm(v), M);
            exp(zmm(v), zmm(9 + 2 * v), zmm(10 + 2 * v), 5 + v % 3);
            a.vmovdqu(mem(RAX, 64 * v), zmm(v));
        }
        a.vaddps(zmm(0), zmm(0), zmm(2));
        a.vaddps(zmm(1), zmm(1), zmm(3));
        a.vaddps(zmm(0), zmm(0), zmm(1));
        a.sumLanes(zmm(0), T);
        a.vfmadd231ss(zmm(0), KEEP, mem(R9, R10, Float.BYTES, 0));
        a.vmovss(mem(R9, R10, Float.BYTES, 0), zmm(0));
        a.add(RAX, AttentionCode.WEIGHTS_ROW);
        a.add(R10, 1);
        a.add(R11, Float.BYTES);
        a.sub(RBX, 1);
        a.j(If.NOT_ZERO, row);
        a.ret();
    }

    /// Computes e to the power of each lane.
    ///
    /// @param x arguments, not above 0; receives the powers
    /// @param shifted clobbered
    /// @param p clobbered
    /// @param k mask register, clobbered
    private void exp(Vec x, Vec shifted, Vec p, int k) {
        int bits = x.bits();
        Vec s = new Vec(shifted.number(), bits);
        Vec q = new Vec(p.number(), bits);
        a.vcmpnltps(k, x, of(lowest, bits));
        a.vmovdqu(s, of(round, bits));
        a.vfmadd231ps(s, x, of(log2e, bits));
        a.vsubps(q, s, of(round, bits));
        a.vfmadd231ps(x, q, of(minusLn2High, bits));
        a.vfmadd231ps(x, q, of(minusLn2Low, bits));
        a.vmovdqu(q, of(coefficients[1], bits));
        a.vfmadd231ps(q, x, of(coefficients[0], bits));
        for (int i = 2; i < coefficients.length; i++) {
            a.vfmadd213ps(q, x, of(coefficients[i], bits));
        }
        a.vfmadd213ps(q, x, of(coefficients[5], bits));
        a.vpslld(s, s, 23);
        a.vpaddd(x, k, q, s);
    }

    private static Vec of(Vec v, int bits) {
        return new Vec(v.number(), bits);
    }
}
