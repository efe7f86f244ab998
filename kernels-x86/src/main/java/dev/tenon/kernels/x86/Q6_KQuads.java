package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.mem;
import static dev.tenon.kernels.x86.Operand.zmm;

import dev.tenon.kernels.x86.Operand.Gpr;
import dev.tenon.kernels.x86.Operand.Vec;

/// Four rows of Q6_K ([Q6_KCode]) times a token, in the order of [Q6_KPairs].
///
/// Each register of activations is loaded once for all rows. There is a sum for each token and row.
final class Q6_KQuads extends QuadCode512 {
    private static final Vec[][] LEVELS = {registers(0, 4), registers(4, 4), registers(8, 4), registers(12, 4)};
    private static final Vec[] SCALES = registers(16, 4);
    private static final Vec[] DOTS = registers(20, 4);
    private static final Vec Q = zmm(24);
    private static final Vec DX = zmm(25);
    private static final Vec U = zmm(26);
    private static final Vec NIBBLE = zmm(27);
    private static final Vec PAIRS = zmm(28);
    private static final Vec[] HIGH = registers(29, 2);
    private static final Vec SCALE_BYTES = zmm(31);

    Q6_KQuads() {
        super(4);
    }

    @Override
    void constants(Assembler a) {
        a.vmovdqu(NIBBLE, a.constant(i -> 0x0F0F0F0F));
        a.vmovdqu(PAIRS, a.constant(i -> 0x33333333));
        for (int p = 0; p < 2; p++) {
            int pair = p;
            a.vmovdqu(HIGH[p], a.constant(i -> Q6_KPairs.highDword(pair, i)));
        }
        a.vmovdqu(SCALE_BYTES, a.constant(Q6_KPairs::scaleByte));
    }

    @Override
    void unpack(Assembler a) {
        for (int r = 0; r < ROWS.length; r++) {
            Gpr w = ROWS[r];
            Vec d = DOTS[0];
            Vec[] high = {DOTS[1], DOTS[2]};
            Q6_KPairs.unpackLevels(a, w, LEVELS[r], Q, DX, high, HIGH, NIBBLE, PAIRS);
            PairCode512.half(a, mem(w, Q6_KPairs.D), d);
            a.vmulps(d, d, a.constant(i -> Float.floatToRawIntBits(Q6_KPairs.TOP)));
            a.vbroadcasti32x4(SCALES[r], mem(w, Q6_KPairs.SCALES));
            a.vpshufb(SCALES[r], SCALES[r], SCALE_BYTES);
            a.vcvtdq2ps(SCALES[r], SCALES[r]);
            a.vmulps(SCALES[r], SCALES[r], d);
        }
    }

    @Override
    void token(Assembler a, int x, int sums) {
        a.vmovdqu(DOTS[0], mem(X, x + Q6_KPairs.START));
        for (int r = 1; r < ROWS.length; r++) {
            a.vmovdqu(DOTS[r], DOTS[0]);
        }
        for (int k = 0; k < 4; k++) {
            a.vmovdqu(Q, mem(X, x + 64 * k));
            for (int r = 0; r < ROWS.length; r++) {
                a.vpdpbusd(DOTS[r], LEVELS[r][k], Q);
            }
        }
        a.vmovdqu(DX, mem(X, x + Q6_KPairs.DX));
        a.vmovdqu(U, mem(X, x + Q6_KPairs.U));
        for (int r = 0; r < ROWS.length; r++) {
            a.vfmadd213ps(DOTS[r], DX, U);
            a.vfmadd213ps(DOTS[r], SCALES[r], mem(SUMS, sums + 64 * r));
            a.vmovdqu(mem(SUMS, sums + 64 * r), DOTS[r]);
        }
    }

    @Override
    void results(Assembler a) {
        Vec t = zmm(8);
        for (int i = 0; i < 8; i++) {
            a.vmovdqu(zmm(i), sum(i));
        }
        for (int i = 0; i < 4; i++) {
            StreamCode512.addPairs(a, zmm(i), zmm(2 * i), zmm(2 * i + 1), t, true);
        }
        for (int i = 0; i < 2; i++) {
            StreamCode512.addPairs(a, zmm(i), zmm(2 * i), zmm(2 * i + 1), t, true);
        }
        addBlocks(a);
    }
}
