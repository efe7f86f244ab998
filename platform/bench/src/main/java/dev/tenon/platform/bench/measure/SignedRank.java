package dev.tenon.platform.bench.measure;

import java.util.Arrays;

/// The centre of paired differences, by Wilcoxon's signed ranks: the median of the means of all pairs
/// of samples (Hodges and Lehmann), and how far from it the true centre may be.
///
/// It takes the samples as independent and as symmetric around their centre, and nothing more: a few
/// samples far out, or two clusters of them, move it little. Differences of two variants that are
/// equally fast are symmetric around 0 whatever the noise is, because swapping the two changes their sign.
public final class SignedRank {
    private SignedRank() {}

    /// {@return the centre and its interval}
    ///
    /// @param error chance that the true centre lies below the interval, and that it lies above; where
    ///     there are too few samples for so small a chance, the interval is infinite
    /// @param samples at least one
    public static Interval of(double error, double... samples) {
        double[] means = means(samples);
        int middle = means.length / 2;
        double centre = means.length % 2 == 1 ? means[middle] : (means[middle - 1] + means[middle]) / 2;
        int outside = outside(samples.length, error);
        return outside == 0
                ? new Interval(centre, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY)
                : new Interval(centre, means[outside - 1], means[means.length - outside]);
    }

    /// The means of all pairs, each sample with itself too, ascending.
    private static double[] means(double[] samples) {
        double[] means = new double[samples.length * (samples.length + 1) / 2];
        int at = 0;
        for (int i = 0; i < samples.length; i++) {
            for (int j = i; j < samples.length; j++) {
                means[at++] = (samples[i] + samples[j]) / 2;
            }
        }
        Arrays.sort(means);
        return means;
    }

    /// {@return the largest number `k` with a chance of at most `error` that the sum of positive ranks is below
    /// `k`: so many means may be left out at each end}
    ///
    /// @param n samples
    /// @param error the chance
    static int outside(int n, double error) {
        int most = n * (n + 1) / 2;
        double[] ways = new double[most + 1]; // of getting each sum of ranks, of 2^n
        ways[0] = 1;
        for (int rank = 1; rank <= n; rank++) {
            for (int sum = most; sum >= rank; sum--) {
                ways[sum] += ways[sum - rank];
            }
        }
        double chance = 0;
        int k = 0;
        while (k < most && (chance += ways[k] / Math.pow(2, n)) <= error) {
            k++;
        }
        return k;
    }
}
