package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.fail;

/// Compares rows of numbers with the float64 truth.
public final class Closeness {
    private Closeness() {}

    /// Fails unless every number lies within a tolerance, relative to the root mean square of all expected
    /// numbers.
    ///
    /// @param name what a failure calls the case
    /// @param expected `[rows][width]`
    /// @param actual `[rows][width]`
    /// @param tolerance largest deviation as a fraction of the root mean square
    public static void assertClose(String name, double[][] expected, float[][] actual, double tolerance) {
        assertCloseTo(name, expected, actual, expected.length, tolerance);
    }

    /// Fails unless the first rows lie within a tolerance, relative to the root mean square of all
    /// expected rows, so that a single small number does not decide.
    ///
    /// @param name what a failure calls the case
    /// @param expected `[rows][width]`
    /// @param actual `[count][width]`
    /// @param count how many rows there should be
    /// @param tolerance largest deviation as a fraction of the root mean square
    public static void assertCloseTo(String name, double[][] expected, float[][] actual, int count, double tolerance) {
        if (count != actual.length) {
            fail(name + ": expected " + count + " rows, got " + actual.length);
        }
        double rms = rms(expected);
        for (int r = 0; r < count; r++) {
            if (expected[r].length != actual[r].length) {
                fail(name + ": row " + r + " has " + actual[r].length + " numbers, expected " + expected[r].length);
            }
            for (int i = 0; i < expected[r].length; i++) {
                double error = Math.abs(expected[r][i] - actual[r][i]);
                if (!(error <= tolerance * rms)) {
                    fail(name + ": row " + r + " column " + i + " is " + actual[r][i] + ", expected " + expected[r][i]
                            + "; off by " + error / rms + " of the root mean square " + rms + ", allowed " + tolerance);
                }
            }
        }
    }

    /// {@return float32 rows as float64}
    ///
    /// @param rows the rows
    public static double[][] widen(float[][] rows) {
        double[][] wide = new double[rows.length][];
        for (int r = 0; r < rows.length; r++) {
            wide[r] = new double[rows[r].length];
            for (int i = 0; i < wide[r].length; i++) {
                wide[r][i] = rows[r][i];
            }
        }
        return wide;
    }

    private static double rms(double[][] rows) {
        double squares = 0;
        long count = 0;
        for (double[] row : rows) {
            for (double v : row) {
                squares += v * v;
                count++;
            }
        }
        return count == 0 ? 0 : Math.sqrt(squares / count);
    }
}
