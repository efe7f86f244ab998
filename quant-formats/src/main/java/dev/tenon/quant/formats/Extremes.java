package dev.tenon.quant.formats;

/// Extreme values of a stretch of an array.
final class Extremes {
    private Extremes() {}

    /// {@return the value of largest magnitude with its sign; the first one among equals; 0 if all
    /// are 0}
    ///
    /// @param x values
    /// @param from index of the first
    /// @param n how many
    static float largestMagnitude(float[] x, int from, int n) {
        float magnitude = 0;
        float value = 0;
        for (int i = from; i < from + n; i++) {
            float a = Math.abs(x[i]);
            if (a > magnitude) {
                magnitude = a;
                value = x[i];
            }
        }
        return value;
    }

    /// {@return the least value}
    ///
    /// @param x values
    /// @param from index of the first
    /// @param n how many, at least 1
    static float least(float[] x, int from, int n) {
        float least = x[from];
        for (int i = from + 1; i < from + n; i++) {
            least = x[i] < least ? x[i] : least;
        }
        return least;
    }

    /// {@return the greatest value}
    ///
    /// @param x values
    /// @param from index of the first
    /// @param n how many, at least 1
    static float greatest(float[] x, int from, int n) {
        float greatest = x[from];
        for (int i = from + 1; i < from + n; i++) {
            greatest = x[i] > greatest ? x[i] : greatest;
        }
        return greatest;
    }
}
