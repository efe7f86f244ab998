package dev.tenon.benchmarks;

/// Compares answers before anything is timed.
final class Check {
    private Check() {}

    /// Refuses an answer that is too far from what it should be.
    ///
    /// @param what names the answer
    /// @param expected right values
    /// @param got values to check
    /// @param tolerance largest root of (sum of squared errors / sum of squared right values)
    /// @throws IllegalStateException if the error is larger, or a value is not finite
    static void close(String what, double[] expected, float[] got, double tolerance) {
        double error = 0;
        double size = 0;
        for (int i = 0; i < expected.length; i++) {
            error += (got[i] - expected[i]) * (got[i] - expected[i]);
            size += expected[i] * expected[i];
        }
        double relative = Math.sqrt(error / size);
        if (!(relative <= tolerance)) {
            throw new IllegalStateException(
                    what + " gives wrong values: relative error " + relative + ", allowed " + tolerance);
        }
    }

    /// Refuses an answer that is false.
    ///
    /// @param what what should be so
    /// @param holds whether it is
    static void that(String what, boolean holds) {
        if (!holds) {
            throw new IllegalStateException("this does not hold: " + what);
        }
    }
}
