package dev.tenon.platform.bench.measure;

import java.util.Arrays;

/// A 95 % confidence interval around an estimate.
///
/// Three kinds: of a mean (Student's t), of the difference of two means with unequal variances (Welch's t), and of
/// the ratio of pairs (Student's t of the logarithms of the ratios, so that the estimate is their geometric mean).
/// They take repetitions as independent and roughly normal; a mean of many tokens is.
///
/// @param estimate the estimate
/// @param low lower end; -infinity where fewer than two samples say nothing of it
/// @param high upper end; +infinity there
public record Interval(double estimate, double low, double high) {
    /// Student's t for 95 %, two-sided, of 1 to 30 degrees of freedom.
    private static final double[] T = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
        2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042
    };

    private static final double NORMAL = 1.959964;

    /// {@return the interval of the mean}
    ///
    /// @param samples at least one
    public static Interval ofMean(double... samples) {
        double mean = Statistics.mean(samples);
        int n = samples.length;
        return around(mean, Statistics.deviation(samples) / Math.sqrt(n), n - 1.0);
    }

    /// {@return the interval of the mean of `b` less the mean of `a`, which were not measured in pairs}
    ///
    /// @param a at least one sample
    /// @param b at least one sample
    public static Interval ofDifference(double[] a, double[] b) {
        double difference = Statistics.mean(b) - Statistics.mean(a);
        if (a.length < 2 || b.length < 2) {
            return around(difference, 0, 0);
        }
        double va = square(Statistics.deviation(a)) / a.length;
        double vb = square(Statistics.deviation(b)) / b.length;
        double freedom = va + vb == 0
                ? a.length + b.length - 2.0
                : square(va + vb) / (va * va / (a.length - 1) + vb * vb / (b.length - 1));
        return around(difference, Math.sqrt(va + vb), freedom);
    }

    /// {@return the interval of the mean of `b` over the mean of `a`, which were not measured in pairs: Welch's of the
    /// difference, over the mean of `a`}
    ///
    /// @param a at least one sample
    /// @param b at least one sample
    public static Interval ofQuotient(double[] a, double[] b) {
        double base = Statistics.mean(a);
        Interval d = ofDifference(a, b);
        return new Interval(1 + d.estimate / base, 1 + d.low / base, 1 + d.high / base);
    }

    /// {@return the interval of `b` over `a`, pair by pair}
    ///
    /// @param a positive samples
    /// @param b positive samples, as many, each measured next to the one of `a`
    public static Interval ofRatios(double[] a, double[] b) {
        if (a.length != b.length) {
            throw new IllegalArgumentException(a.length + " and " + b.length + " samples are no pairs");
        }
        double[] logs = new double[a.length];
        Arrays.setAll(logs, i -> Math.log(b[i] / a[i]));
        Interval log = ofMean(logs);
        return new Interval(Math.exp(log.estimate), Math.exp(log.low), Math.exp(log.high));
    }

    private static Interval around(double estimate, double error, double freedom) {
        if (freedom < 1) {
            return new Interval(estimate, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY);
        }
        double half = t(freedom) * error;
        return new Interval(estimate, estimate - half, estimate + half);
    }

    /// {@return Student's t for 95 %, two-sided; between degrees of freedom that of the lower one, which is wider}
    ///
    /// @param freedom degrees of freedom, at least 1
    static double t(double freedom) {
        if (freedom < T.length + 1) {
            return T[(int) freedom - 1];
        }
        double z = NORMAL;
        // Cornish and Fisher's expansion; above 30 degrees its error is below 1e-4.
        return z
                + (z * z * z + z) / (4 * freedom)
                + (5 * Math.pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * freedom * freedom);
    }

    private static double square(double x) {
        return x * x;
    }

    /// {@return half of the width: what stands after ±}
    public double half() {
        return (high - low) / 2;
    }

    /// {@return whether a value lies outside}
    ///
    /// @param value such as 0 for a difference, 1 for a ratio
    public boolean excludes(double value) {
        return value < low || value > high;
    }
}
