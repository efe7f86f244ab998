package dev.tenon.quant.formats;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.util.Arrays;

/// Q6_K: 256 six-bit levels, sixteen sub-blocks of 16 with a signed 8-bit scale each, 6.5625 bits a
/// weight.
///
/// ```
/// byte 0              128           192                208     210
///      | ql: uint8[128] | qh: uint8[64] | scales: int8[16] | d:f16 |
///
/// value[i] = d * scales[i / 16] * (q[i] - 32),  q[i] = low | high << 4
/// for half h of 128 and l in 0..31:
///   i = 128h + l        low = ql[64h + l] & 15         high = qh[32h + l]      & 3
///   i = 128h + l + 32   low = ql[64h + l + 32] & 15    high = qh[32h + l] >> 2 & 3
///   i = 128h + l + 64   low = ql[64h + l] >> 4         high = qh[32h + l] >> 4 & 3
///   i = 128h + l + 96   low = ql[64h + l + 32] >> 4    high = qh[32h + l] >> 6
/// ```
///
/// Encoding: each sub-block's scale is the best of 19 tried, by the squared error weighted with x²;
/// the scale of largest magnitude becomes -128 (d = scale / -128), the others are rounded to it,
/// and the levels are rounded again.
@ServiceProvider(value = QuantFormat.class, resolution = Resolution.OPTIONAL)
public final class Q6_KFormat extends BlockFormat {
    private static final int N = 256;
    private static final int SUB = 16;
    private static final int BYTES = 210;
    private static final int QH = 128;
    private static final int SCALES = 192;
    private static final int D = 208;

    /// Levels are -32..31.
    private static final int LEVELS = 32;
    /// Tried scales put the largest value at level 32 + 0.1 * k, k in -9..9.
    private static final int TRIES = 9;
    /// Smaller magnitudes count as 0.
    private static final float TINY = 1e-15f;

    private static final BlockLayout LAYOUT = BlockLayout.of(
            N,
            BYTES,
            Numbers.unsigned(
                    BitField.of(4).bytes(64, 1).bits(2, 4).bytes(2, 64),
                    BitField.of(2).at(QH).bytes(32, 1).bits(4, 2).bytes(2, 32)),
            LEVELS,
            Scale.f16(D, Numbers.signed(BitField.of(8).at(SCALES).bytes(16, 1))));

    /// Creates the format; it has no state.
    public Q6_KFormat() {
        super("Q6_K", 14, LAYOUT, true);
    }

    @Override
    void encode(float[] in, int at, byte[] out, int blocks) {
        byte[] q = new byte[N];
        float[] scales = new float[N / SUB];
        for (int b = 0; b < blocks; b++) {
            int block = b * BYTES;
            int x = at + b * N;
            for (int s = 0; s < scales.length; s++) {
                scales[s] = fit(in, x + s * SUB, q, s * SUB);
            }
            float largest = Extremes.largestMagnitude(scales, 0, scales.length);
            if (Math.abs(largest) < TINY) {
                Arrays.fill(out, block, block + BYTES, (byte) 0);
                continue;
            }
            float inverse = -128f / largest;
            Bits.putHalf(out, block + D, 1 / inverse);
            float d = Bits.half(out, block + D);
            for (int s = 0; s < scales.length; s++) {
                int scale = Math.min(127, Bits.nearest(inverse * scales[s]));
                out[block + SCALES + s] = (byte) scale;
                float step = d * scale;
                if (step != 0) {
                    requantize(in, x + s * SUB, step, q, s * SUB);
                }
            }
            pack(q, out, block);
        }
    }

    private static void requantize(float[] x, int from, float step, byte[] q, int to) {
        for (int i = 0; i < SUB; i++) {
            q[to + i] = (byte) (Bits.nearest(x[from + i] / step, -LEVELS, LEVELS - 1) + LEVELS);
        }
    }

    /// Finds the scale that makes the sum of x² (x - scale * level)² least, and leaves its levels +
    /// 32 in `q`.
    ///
    /// For given levels the best scale is Σx²·x·l / Σx²·l², and the error falls as (Σx²·x·l)² /
    /// Σx²·l² rises.
    private static float fit(float[] x, int from, byte[] q, int to) {
        float largest = Extremes.largestMagnitude(x, from, SUB);
        if (Math.abs(largest) < TINY) {
            Arrays.fill(q, to, to + SUB, (byte) 0);
            return 0;
        }
        float bestInverse = -LEVELS / largest;
        float bestScale = 0;
        float bestGain = 0;
        for (int k = 0; k <= 2 * TRIES; k++) {
            // 0, -9, -8, ... -1, 1, ... 9: the plain scale comes first, so that it stays among equals.
            int offset = k == 0 ? 0 : k <= TRIES ? k - TRIES - 1 : k - TRIES;
            float inverse = -(LEVELS + 0.1f * offset) / largest;
            float sumXl = 0;
            float sumLl = 0;
            for (int i = from; i < from + SUB; i++) {
                float v = x[i];
                float l = Bits.nearest(inverse * v, -LEVELS, LEVELS - 1);
                float w = v * v;
                sumXl += w * v * l;
                sumLl += w * l * l;
            }
            boolean first = k == 0;
            if (first ? sumLl != 0 : sumLl > 0 && sumXl * sumXl > bestGain * sumLl) {
                bestInverse = inverse;
                bestScale = sumXl / sumLl;
                bestGain = bestScale * sumXl;
            }
        }
        for (int i = 0; i < SUB; i++) {
            q[to + i] = (byte) (Bits.nearest(bestInverse * x[from + i], -LEVELS, LEVELS - 1) + LEVELS);
        }
        return bestScale;
    }

    private static void pack(byte[] q, byte[] out, int block) {
        for (int h = 0; h < 2; h++) {
            int from = 128 * h;
            for (int l = 0; l < 32; l++) {
                int q0 = q[from + l];
                int q1 = q[from + l + 32];
                int q2 = q[from + l + 64];
                int q3 = q[from + l + 96];
                out[block + 64 * h + l] = (byte) (q0 & 15 | q2 << 4);
                out[block + 64 * h + l + 32] = (byte) (q1 & 15 | q3 << 4);
                out[block + QH + 32 * h + l] = (byte) (q0 >> 4 | q1 >> 4 << 2 | q2 >> 4 << 4 | q3 >> 4 << 6);
            }
        }
    }
}
