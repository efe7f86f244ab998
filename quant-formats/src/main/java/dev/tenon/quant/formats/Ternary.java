package dev.tenon.quant.formats;

/// What the formats with levels -1, 0 and 1 share: a block's scale is its largest magnitude.
final class Ternary {
    /// Most relative error of values with a normal distribution, most of which become 0: the formats are for weights
    /// that have these three values.
    static final double ROUND_TRIP_BOUND = 0.85;

    private Ternary() {}

    /// Finds the levels of a block.
    ///
    /// @param in values
    /// @param at index of the first
    /// @param levels receives a level for each of its elements: 0, 1 or 2 for -1, 0 or 1; values half way between
    ///     two levels go away from 0
    /// @return the scale
    static float levels(float[] in, int at, byte[] levels) {
        float d = Math.abs(Extremes.largestMagnitude(in, at, levels.length));
        float inverse = d != 0 ? 1 / d : 0;
        for (int i = 0; i < levels.length; i++) {
            float scaled = in[at + i] * inverse;
            levels[i] = (byte) (scaled >= 0.5f ? 2 : scaled <= -0.5f ? 0 : 1);
        }
        return d;
    }
}
