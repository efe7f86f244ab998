package dev.tenon.platform.bench.measure;

import java.util.Arrays;

/// Mean, median and sample standard deviation.
public final class Statistics {
    private Statistics() {}

    /// {@return the mean; 0 of no samples}
    ///
    /// @param samples the samples
    public static double mean(double... samples) {
        double sum = 0;
        for (double sample : samples) {
            sum += sample;
        }
        return samples.length == 0 ? 0 : sum / samples.length;
    }

    /// {@return the middle one, the upper of two; 0 of no samples}
    ///
    /// @param samples the samples; stay as they are
    public static long median(long... samples) {
        long[] sorted = samples.clone();
        Arrays.sort(sorted);
        return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
    }

    /// {@return the sample standard deviation (divisor n - 1); 0 of fewer than two samples}
    ///
    /// @param samples the samples
    public static double deviation(double... samples) {
        if (samples.length < 2) {
            return 0;
        }
        double mean = mean(samples);
        double sum = 0;
        for (double sample : samples) {
            sum += (sample - mean) * (sample - mean);
        }
        return Math.sqrt(sum / (samples.length - 1));
    }
}
