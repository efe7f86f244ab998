package dev.tenon.quant.formats;

/// Finds scale and minimum of a sub-block, value ≈ scale * level - min with whole levels
/// 0..maxLevel and min >= 0.
///
/// Starts from the range of the values (stretched to include 0) and then tries several roundings:
/// with levels l rounded for one inverse scale, the best scale and minimum solve a weighted
/// least-squares line through (l, x); the pair with the least weighted error stays, and later tries
/// round from its minimum. Used by the encoders of Q2_K, Q4_K and Q5_K. Holds scratch space: one
/// object a thread.
final class ScaleMinFit {
    private final int n;
    private final int maxLevel;
    private final float firstTry;
    private final float tryStep;
    private final int tries;
    private final boolean absoluteError;
    private final byte[] trial;
    private float min;

    /// Creates a fit.
    ///
    /// @param n values in a sub-block
    /// @param maxLevel greatest level
    /// @param firstTry the first try spreads the values over maxLevel + firstTry levels
    /// @param tryStep each further try spreads them over so many levels more
    /// @param tries how many steps follow the first try
    /// @param absoluteError whether tries are judged by weighted absolute instead of squared errors
    ScaleMinFit(int n, int maxLevel, float firstTry, float tryStep, int tries, boolean absoluteError) {
        this.n = n;
        this.maxLevel = maxLevel;
        this.firstTry = firstTry;
        this.tryStep = tryStep;
        this.tries = tries;
        this.absoluteError = absoluteError;
        this.trial = new byte[n];
    }

    /// {@return the minimum that the last fit found, at least 0}
    float min() {
        return min;
    }

    /// Fits one sub-block.
    ///
    /// @param x values
    /// @param from index of the first value
    /// @param weights weight of each value's error, from index 0
    /// @param levels receives the levels
    /// @param to index of the first level
    /// @return the scale, at least 0
    float fit(float[] x, int from, float[] weights, byte[] levels, int to) {
        float low = Math.min(0, Extremes.least(x, from, n));
        float high = Extremes.greatest(x, from, n);
        if (high == low || Float.isInfinite(high - low)) {
            for (int i = 0; i < n; i++) {
                levels[to + i] = 0;
            }
            min = -low;
            return 0;
        }
        float sumW = 0;
        float sumX = 0;
        for (int i = 0; i < n; i++) {
            sumW += weights[i];
            sumX += weights[i] * x[from + i];
        }
        float inverse = maxLevel / (high - low);
        float scale = 1 / inverse;
        float offset = low;
        for (int i = 0; i < n; i++) {
            levels[to + i] = (byte) Bits.nearest(inverse * (x[from + i] - low), 0, maxLevel);
        }
        float bestError = error(x, from, weights, levels, to, scale, offset, Float.POSITIVE_INFINITY);
        for (int k = 0; k <= tries; k++) {
            inverse = (firstTry + tryStep * k + maxLevel) / (high - offset);
            float sumL = 0;
            float sumLl = 0;
            float sumXl = 0;
            for (int i = 0; i < n; i++) {
                float v = x[from + i];
                int l = Bits.nearest(inverse * (v - offset), 0, maxLevel);
                trial[i] = (byte) l;
                float w = weights[i];
                float wl = w * l;
                sumL += wl;
                sumLl += wl * l;
                sumXl += wl * v;
            }
            float determinant = sumW * sumLl - sumL * sumL;
            if (!(determinant > 0)) {
                continue;
            }
            float tryScale = (sumW * sumXl - sumX * sumL) / determinant;
            float tryOffset = (sumLl * sumX - sumL * sumXl) / determinant;
            if (tryOffset > 0) {
                tryOffset = 0;
                tryScale = sumXl / sumLl;
            }
            float error = error(x, from, weights, trial, 0, tryScale, tryOffset, bestError);
            if (error < bestError) {
                System.arraycopy(trial, 0, levels, to, n);
                bestError = error;
                scale = tryScale;
                offset = tryOffset;
            }
        }
        min = -offset;
        return scale;
    }

    /// The weighted error, or some number not below `limit` as soon as the sum reaches it: terms
    /// are never negative.
    private float error(
            float[] x, int from, float[] weights, byte[] levels, int at, float scale, float offset, float limit) {
        float sum = 0;
        for (int i = 0; i < n && sum < limit; ) {
            for (int end = Math.min(n, i + 8); i < end; i++) {
                float difference = scale * levels[at + i] + offset - x[from + i];
                float e = absoluteError ? Math.abs(difference) : difference * difference;
                sum += weights[i] * e;
            }
        }
        return sum;
    }
}
