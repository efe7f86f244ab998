package dev.tenon.kernels.x86;

import static dev.tenon.kernels.x86.Operand.zmm;

import dev.tenon.kernels.x86.Operand.Vec;

/// A panel of 32 rows times 4 or 6 tokens with AVX-512 VNNI: up to 12 registers of integers, 12 of floats.
final class PanelCode512 extends PanelCode {
    private static final Vec BIAS_LANES = zmm(31);

    PanelCode512(Assembler a, BlockCode format, int tokens) {
        super(a, format, PanelShape.WIDE, tokens);
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
            for (int h = 0; h < 2; h++) {
                if (format.words) {
                    a.zero(dot(t, h));
                } else if (format.mins) {
                    a.vmovdqu(dot(t, h), BIAS_LANES);
                } else {
                    a.vpbroadcastd(dot(t, h), dx(t, perGroup));
                }
            }
        }
        for (int k = 0; k < shape.steps(format); k++) {
            Vec w0 = zmm(24 + 2 * (k & 1));
            Vec w1 = zmm(25 + 2 * (k & 1));
            a.vmovdqu(w0, levels(k, 0));
            a.vmovdqu(w1, levels(k, 1));
            if (!format.words) {
                // The next block; with words it would only take load slots.
                a.prefetchT0(levels(k, 0).plus(shape.blockBytes(format)));
                a.prefetchT0(levels(k, 1).plus(shape.blockBytes(format)));
            }
            for (int t = 0; t < tokens; t++) {
                Vec x = zmm(28 + t % 3);
                a.vpbroadcastd(x, q(t, 4 * k));
                if (format.words) {
                    a.vpdpwssd(dot(t, 0), w0, x);
                    a.vpdpwssd(dot(t, 1), w1, x);
                } else {
                    a.vpdpbusd(dot(t, 0), w0, x);
                    a.vpdpbusd(dot(t, 1), w1, x);
                }
            }
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
        emitScaling(zmm(26), zmm(27), zmm(28), scale, min);
    }
}
