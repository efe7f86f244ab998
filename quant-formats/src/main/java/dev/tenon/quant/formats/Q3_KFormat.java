package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.util.Arrays;

/// Q3_K: 256 three-bit levels, sixteen sub-blocks of 16 with a 6-bit scale each, 3.4375 bits a
/// weight.
///
/// ```
/// byte 0                  32              96                  108     110
///      | hmask: uint8[32] | qs: uint8[64] | scales: uint8[12] | d:f16 |
///
/// value[i] = d * (scale[i / 16] - 32) * (q[i] - 4);  for half h of 128, p in 0..3 and l in 0..31:
///   q[128h + 32p + l] = (qs[32h + l] >> 2p & 3) | (hmask[l] >> 4h + p & 1) << 2
/// scale[j], j in 0..15:
///   low 4 bits:  j < 8 ? scales[j] & 15 : scales[j - 8] >> 4
///   high 2 bits: scales[8 + j % 4] >> 2 * (j / 4) & 3
/// ```
///
/// Encoding: a sub-block starts from its largest value at level -4; then, for up to five rounds,
/// each level is set to what suits the others best if that lowers the squared error weighted with
/// x². The scale of largest magnitude becomes -32 (d = scale / -32), the others are rounded to it,
/// and the levels are rounded again.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q3_KFormat extends BlockFormat {
    private static final int N = 256;
    private static final int SUB = 16;
    private static final int SUBS = N / SUB;
    private static final int BYTES = 110;
    private static final int QS = 32;
    private static final int SCALES = 96;
    private static final int D = 108;
    private static final int LEVELS = 4;
    private static final int SCALE_LEVELS = 32;
    private static final int ROUNDS = 5;
    /// Smaller magnitudes count as 0.
    private static final float TINY = 1e-15f;

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N,
            BYTES,
            Numbers.unsigned(
                    BitField.of(2).at(QS).bytes(32, 1).bits(4, 2).bytes(2, 32),
                    BitField.of(1).bytes(32, 1).bits(8, 1)),
            LEVELS,
            Scale.f16(
                            D,
                            Numbers.unsigned(
                                    BitField.of(4).at(SCALES).bytes(8, 1).bits(2, 4),
                                    BitField.of(2).at(SCALES + 8).bytes(4, 1).bits(4, 2)))
                    .with(1, -SCALE_LEVELS));

    /// Creates the format; it has no state.
    public Q3_KFormat() {
        super("Q3_K", 11, LAYOUT, true);
    }

    private static int scale(byte[] in, int block, int j) {
        int low = j < 8 ? in[block + SCALES + j] & 15 : in[block + SCALES + j - 8] >> 4 & 15;
        int high = in[block + SCALES + 8 + j % 4] >> 2 * (j / 4) & 3;
        return low | high << 4;
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        byte[] q = new byte[N];
        float[] scales = new float[SUBS];
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            for (int s = 0; s < SUBS; s++) {
                scales[s] = fit(in, x + s * SUB, q, s * SUB);
            }
            putScales(scales, out, block);
            float d = Bits.half(out, block + D);
            for (int s = 0; s < SUBS; s++) {
                float step = d * (scale(out, block, s) - SCALE_LEVELS);
                if (step != 0) {
                    for (int i = s * SUB; i < (s + 1) * SUB; i++) {
                        q[i] = (byte) (Bits.nearest(in[x + i] / step, -LEVELS, LEVELS - 1) + LEVELS);
                    }
                }
            }
            pack(q, out, block);
        }
    }

    private static float fit(float[] x, int from, byte[] q, int to) {
        float largest = Extremes.largestMagnitude(x, from, SUB);
        if (Math.abs(largest) < TINY) {
            Arrays.fill(q, to, to + SUB, (byte) 0);
            return 0;
        }
        float inverse = -LEVELS / largest;
        float sumXl = 0;
        float sumLl = 0;
        for (int i = 0; i < SUB; i++) {
            float v = x[from + i];
            int l = Bits.nearest(inverse * v, -LEVELS, LEVELS - 1);
            q[to + i] = (byte) l;
            float w = v * v;
            sumXl += w * v * l;
            sumLl += w * l * l;
        }
        boolean changed = true;
        for (int round = 0; round < ROUNDS && changed; round++) {
            changed = false;
            for (int i = 0; i < SUB; i++) {
                float v = x[from + i];
                float w = v * v;
                int old = q[to + i];
                float othersXl = sumXl - w * v * old;
                if (!(othersXl > 0)) {
                    continue;
                }
                float othersLl = sumLl - w * old * old;
                int l = Bits.nearest(v * othersLl / othersXl, -LEVELS, LEVELS - 1);
                if (l == old) {
                    continue;
                }
                float newXl = othersXl + w * v * l;
                float newLl = othersLl + w * l * l;
                if (newLl > 0 && newXl * newXl * sumLl > sumXl * sumXl * newLl) {
                    q[to + i] = (byte) l;
                    sumXl = newXl;
                    sumLl = newLl;
                    changed = true;
                }
            }
        }
        for (int i = 0; i < SUB; i++) {
            q[to + i] += LEVELS;
        }
        return sumLl > 0 ? sumXl / sumLl : 0;
    }

    private static void putScales(float[] scales, byte[] out, int block) {
        Arrays.fill(out, block + SCALES, block + SCALES + 12, (byte) 0);
        float largest = Extremes.largestMagnitude(scales, 0, SUBS);
        if (largest == 0) {
            Bits.putHalf(out, block + D, 0);
            return;
        }
        float inverse = -SCALE_LEVELS / largest;
        for (int j = 0; j < SUBS; j++) {
            int l = Bits.nearest(inverse * scales[j], -SCALE_LEVELS, SCALE_LEVELS - 1) + SCALE_LEVELS;
            out[block + SCALES + j % 8] |= (byte) ((l & 15) << (j < 8 ? 0 : 4));
            out[block + SCALES + 8 + j % 4] |= (byte) (l >> 4 << 2 * (j / 4));
        }
        Bits.putHalf(out, block + D, 1 / inverse);
    }

    private static void pack(byte[] q, byte[] out, int block) {
        for (int l = 0; l < 32; l++) {
            int mask = 0;
            for (int h = 0; h < 2; h++) {
                int low = 0;
                for (int p = 0; p < 4; p++) {
                    int level = q[128 * h + 32 * p + l];
                    low |= (level & 3) << 2 * p;
                    mask |= level >> 2 << 4 * h + p;
                }
                out[block + QS + 32 * h + l] = (byte) low;
            }
            out[block + l] = (byte) mask;
        }
    }
}
