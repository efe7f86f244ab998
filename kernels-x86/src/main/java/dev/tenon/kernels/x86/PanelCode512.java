package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.zmm;

import dev.tenon.kernels.x86.Operand.Vec;

/// A panel of 32 rows times 4 or 6 tokens with AVX-512 VNNI: up to 12 registers of integers, 12 of floats.
final class PanelCode512 extends PanelCode {
    private static final Vec BIAS_LANES = zmm(31);

    PanelCode512(Assembler a, BlockCode format, int tokens, int n) {
        super(a, format, PanelShape.WIDE, tokens, n);
    }

    @Override
    Vec dot(int token, int half) {
        return zmm(2 * token + half);
    }

    @Override
    Vec sum(int token, int half) {
        return zmm(12 + 2 * token + half);
    }

    @Override
    void emitConstants() {
        a.vmovdqu(BIAS_LANES, a.constant(i -> Float.floatToRawIntBits(PackCode.BIAS)));
    }

    @Override
    void emitDots() {
        for (int t = 0; t < tokens; t++) {
            if (format.words) {
                a.zero(dot(t, 0));
                a.zero(dot(t, 1));
            } else if (format.mins) {
                a.vmovdqu(dot(t, 0), BIAS_LANES);
                a.vmovdqu(dot(t, 1), BIAS_LANES);
            } else {
                a.vpbroadcastd(dot(t, 0), c(t));
                a.vmovdqu(dot(t, 1), dot(t, 0));
            }
        }
        for (int k = 0; k < shape.steps(format); k++) {
            Vec w0 = zmm(24 + 2 * (k & 1));
            Vec w1 = zmm(25 + 2 * (k & 1));
            a.vmovdqu(w0, levels(k, 0));
            a.vmovdqu(w1, levels(k, 1));
            for (int t = 0; t < tokens; t++) {
                Operand x = q(t, 4 * k).bcst();
                if (t >= tokens / 2) {
                    x = zmm(28 + t % 3);
                    a.vpbroadcastd((Vec) x, q(t, 4 * k));
                }
                emitProduct(dot(t, 0), w0, x);
                emitProduct(dot(t, 1), w1, x);
            }
        }
    }

    private void emitProduct(Vec dot, Vec levels, Operand x) {
        if (format.words) {
            a.vpdpwssd(dot, levels, x);
        } else {
            a.vpdpbusd(dot, levels, x);
        }
    }

    @Override
    void emitScaling() {
        Vec[] scale = {zmm(24), zmm(25)};
        Vec[] min = {zmm(29), zmm(30)};
        for (int h = 0; h < 2; h++) {
            a.vmovdqu(scale[h], scale(h));
            if (format.mins) {
                a.vmovdqu(min[h], min(h));
            }
        }
        emitScaling(zmm(26), null, zmm(28), scale, min);
    }
}
