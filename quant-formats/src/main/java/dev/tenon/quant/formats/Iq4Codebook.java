package dev.tenon.quant.formats;

import dev.tenon.api.quant.layout.CodeBook;

/// The sixteen uneven levels of IQ4_NL and IQ4_XS, and the search for a scale.
final class Iq4Codebook {
    /// Values in a sub-block.
    static final int SUB = 32;

    /// Smaller magnitudes count as 0.
    private static final float TINY = 1e-15f;
    /// Tried inverse scales put the largest value at level -127 + k, k in -7..7.
    private static final int TRIES = 7;

    private static final int[] T = {
        -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
    };

    /// What indices stand for.
    static final CodeBook LEVELS = CodeBook.of(T);

    /// All levels lie within so many halves around 0.
    private static final int LIMIT = 256;

    private static final byte[] NEAREST = nearestByHalves();

    private Iq4Codebook() {}

    /// {@return the index of the level nearest to a number, the upper one if two are equally near}
    ///
    /// @param value a number
    static int nearest(float value) {
        int halves = (int) Math.floor(2.0 * value);
        return NEAREST[Math.max(-LIMIT, Math.min(LIMIT - 1, halves)) + LIMIT];
    }

    /// Midpoints between levels are whole halves, so the number of halves below a value decides.
    private static byte[] nearestByHalves() {
        byte[] table = new byte[2 * LIMIT];
        for (int halves = -LIMIT; halves < LIMIT; halves++) {
            int i = 0;
            while (i < T.length - 1 && halves >= T[i] + T[i + 1]) {
                i++;
            }
            table[halves + LIMIT] = (byte) i;
        }
        return table;
    }

    /// Finds the scale that makes the sum of x² (x - scale * level)² least among those tried.
    ///
    /// @param x values
    /// @param from index of the first of 32 values
    /// @return the scale, 0 if the values are too small to tell from 0
    static float scale(float[] x, int from) {
        float largest = Extremes.largestMagnitude(x, from, SUB);
        if (Math.abs(largest) < TINY) {
            return 0;
        }
        float first = -largest / T[0];
        float bestScale = 0;
        float bestGain = 0;
        for (int k = -TRIES - 1; k <= TRIES; k++) {
            // The first try is the scale that puts the largest value at +127.
            boolean isFirst = k < -TRIES;
            float inverse = isFirst ? 1 / first : (k + T[0]) / largest;
            float sumXl = 0;
            float sumLl = 0;
            for (int i = from; i < from + SUB; i++) {
                float v = x[i];
                float l = T[nearest(inverse * v)];
                float w = v * v;
                sumXl += w * l * v;
                sumLl += w * l * l;
            }
            if (isFirst ? sumLl != 0 : sumLl > 0 && sumXl * sumXl > bestGain * sumLl) {
                bestScale = sumXl / sumLl;
                bestGain = bestScale * sumXl;
            }
        }
        return bestScale;
    }
}
