package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;

/// Q2_K: 256 two-bit levels, sixteen sub-blocks of 16 with a 4-bit scale and a 4-bit minimum each,
/// 2.625 bits a weight.
///
/// ```
/// byte 0                   16              80      82         84
///      | scales: uint8[16] | qs: uint8[64] | d:f16 | dmin:f16 |     s = scales[i / 16]
///
/// value[i] = d * (s & 15) * q[i] - dmin * (s >> 4);  for half h of 128, p in 0..3 and l in 0..31:
///   q[128h + 32p + l] = qs[32h + l] >> 2p & 3
/// ```
///
/// Encoding: scale and minimum of a sub-block come from [ScaleMinFit] with 16 tries, absolute
/// errors weighted with |x|; the largest scale and the largest minimum become 15.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q2_KFormat extends BlockFormat {
    private static final int N = 256;
    private static final int SUB = 16;
    private static final int SUBS = N / SUB;
    private static final int BYTES = 84;
    private static final int QS = 16;
    private static final int D = 80;
    private static final int DMIN = 82;
    private static final int MAX_SCALE = 15;

    private static final BlockLayout LAYOUT = BlockLayout.of(
                    N,
                    BYTES,
                    Numbers.unsigned(
                            BitField.of(2).at(QS).bytes(32, 1).bits(4, 2).bytes(2, 32)),
                    0,
                    Scale.f16(D, Numbers.unsigned(BitField.of(4).bytes(SUBS, 1))))
            .withMinimums(
                    Scale.f16(DMIN, Numbers.unsigned(BitField.of(4).at(0, 4).bytes(SUBS, 1))));

    /// Creates the format; it has no state.
    public Q2_KFormat() {
        super("Q2_K", 10, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        ScaleMinFit fit = new ScaleMinFit(SUB, 3, -0.5f, 0.1f, 15, true);
        float[] weights = new float[SUB];
        float[] scales = new float[SUBS];
        float[] mins = new float[SUBS];
        byte[] q = new byte[N];
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            for (int s = 0; s < SUBS; s++) {
                for (int i = 0; i < SUB; i++) {
                    weights[i] = Math.abs(in[x + s * SUB + i]);
                }
                scales[s] = fit.fit(in, x + s * SUB, weights, q, s * SUB);
                mins[s] = fit.min();
            }
            putScales(scales, mins, out, block);
            requantize(in, x, out, block, q);
            pack(q, out, block);
        }
    }

    private static void putScales(float[] scales, float[] mins, byte[] out, int block) {
        float maxScale = Math.max(0, Extremes.greatest(scales, 0, SUBS));
        float maxMin = Math.max(0, Extremes.greatest(mins, 0, SUBS));
        float inverseScale = maxScale > 0 ? MAX_SCALE / maxScale : 0;
        float inverseMin = maxMin > 0 ? MAX_SCALE / maxMin : 0;
        Bits.putHalf(out, block + D, maxScale / MAX_SCALE);
        Bits.putHalf(out, block + DMIN, maxMin / MAX_SCALE);
        for (int s = 0; s < SUBS; s++) {
            int scale = Bits.nearest(inverseScale * scales[s], 0, MAX_SCALE);
            int min = Bits.nearest(inverseMin * mins[s], 0, MAX_SCALE);
            out[block + s] = (byte) (scale | min << 4);
        }
    }

    private static void requantize(float[] in, int x, byte[] out, int block, byte[] q) {
        float d = Bits.half(out, block + D);
        float dmin = Bits.half(out, block + DMIN);
        for (int s = 0; s < SUBS; s++) {
            int packed = out[block + s];
            float scale = d * (packed & 15);
            if (scale == 0) {
                continue;
            }
            float min = dmin * (packed >> 4 & 15);
            for (int i = s * SUB; i < (s + 1) * SUB; i++) {
                q[i] = (byte) Bits.nearest((in[x + i] + min) / scale, 0, 3);
            }
        }
    }

    private static void pack(byte[] q, byte[] out, int block) {
        for (int h = 0; h < 2; h++) {
            for (int l = 0; l < 32; l++) {
                int i = 128 * h + l;
                out[block + QS + 32 * h + l] = (byte) (q[i] | q[i + 32] << 2 | q[i + 64] << 4 | q[i + 96] << 6);
            }
        }
    }
}
