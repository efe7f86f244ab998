package dev.tenon.quant.formats;

/// The part of encoding that Q4_K and Q5_K share: block scales, packed sub-block scales and levels
/// of 256 values.
///
/// Each sub-block of 32 gets scale and minimum from [ScaleMinFit], errors weighted with sqrt(mean
/// x²) + |x|. The largest of the eight scales becomes 63 (d = scale / 63), likewise the minimums;
/// then levels are rounded again with the rounded scales. Holds scratch space: one object a thread.
final class ScaleMinEncoder {
    private static final int N = 256;
    private static final int SUB = 32;
    private static final int SUBS = N / SUB;

    /// The levels of the block last encoded.
    final byte[] levels = new byte[N];

    private final int maxLevel;
    private final ScaleMinFit fit;
    private final float[] weights = new float[SUB];
    private final float[] scales = new float[SUBS];
    private final float[] mins = new float[SUBS];
    private final int[] scaleLevels = new int[SUBS];
    private final int[] minLevels = new int[SUBS];

    /// Creates an encoder.
    ///
    /// @param maxLevel greatest level
    /// @param fit how a sub-block's scale and minimum are found
    ScaleMinEncoder(int maxLevel, ScaleMinFit fit) {
        this.maxLevel = maxLevel;
        this.fit = fit;
    }

    /// Encodes a block's first 16 bytes (d, dmin, scales) and leaves its levels in [#levels].
    ///
    /// @param x values
    /// @param from index of the first of 256 values
    /// @param out receives 16 bytes
    /// @param block index of the first byte
    void encode(float[] x, int from, byte[] out, int block) {
        for (int s = 0; s < SUBS; s++) {
            weigh(x, from + s * SUB);
            scales[s] = fit.fit(x, from + s * SUB, weights, levels, s * SUB);
            mins[s] = fit.min();
        }
        float maxScale = Math.max(0, Extremes.greatest(scales, 0, SUBS));
        float maxMin = Math.max(0, Extremes.greatest(mins, 0, SUBS));
        round(scales, maxScale, scaleLevels);
        round(mins, maxMin, minLevels);
        Bits.putHalf(out, block, maxScale / PackedScales.MAX);
        Bits.putHalf(out, block + 2, maxMin / PackedScales.MAX);
        PackedScales.put(scaleLevels, minLevels, out, block + 4);

        float d = Bits.half(out, block);
        float dmin = Bits.half(out, block + 2);
        for (int s = 0; s < SUBS; s++) {
            float scale = d * scaleLevels[s];
            if (scale == 0) {
                continue;
            }
            float min = dmin * minLevels[s];
            for (int i = s * SUB; i < (s + 1) * SUB; i++) {
                levels[i] = (byte) Bits.nearest((x[from + i] + min) / scale, 0, maxLevel);
            }
        }
    }

    private void weigh(float[] x, int from) {
        float sum = 0;
        for (int i = 0; i < SUB; i++) {
            sum += x[from + i] * x[from + i];
        }
        float rootMeanSquare = (float) Math.sqrt(sum / SUB);
        for (int i = 0; i < SUB; i++) {
            weights[i] = rootMeanSquare + Math.abs(x[from + i]);
        }
    }

    private static void round(float[] numbers, float max, int[] rounded) {
        float inverse = max > 0 ? PackedScales.MAX / max : 0;
        for (int s = 0; s < SUBS; s++) {
            rounded[s] = Bits.nearest(inverse * numbers[s], 0, PackedScales.MAX);
        }
    }
}
