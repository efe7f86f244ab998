package dev.tenon.platform.bench.measure;

import java.util.function.IntConsumer;

/// Measures two variants in turns, A B B A A B B A ..., so that a machine that gets faster or slower favours neither.
///
/// @param a samples of the first variant
/// @param b samples of the second; sample `i` was measured next to sample `i` of the first
public record Turns(double[] a, double[] b) {
    /// Measures one sample.
    ///
    /// @param <X> what it may throw
    @FunctionalInterface
    public interface Sample<X extends Exception> {
        /// {@return the sample}
        double take() throws X;
    }

    /// Measures pairs.
    ///
    /// @param pairs how many
    /// @param a measures the first variant
    /// @param b measures the second variant
    /// @param done hears the number of pairs that are finished
    /// @return the samples
    /// @throws X what a sample throws; the pairs before are lost
    public static <X extends Exception> Turns measure(int pairs, Sample<X> a, Sample<X> b, IntConsumer done) throws X {
        double[] first = new double[pairs];
        double[] second = new double[pairs];
        for (int i = 0; i < pairs; i++) {
            if (i % 2 == 0) {
                first[i] = a.take();
                second[i] = b.take();
            } else {
                second[i] = b.take();
                first[i] = a.take();
            }
            done.accept(i + 1);
        }
        return new Turns(first, second);
    }

    /// {@return the second variant over the first, with its 95 % interval}
    public Interval ratio() {
        return Interval.ofRatios(a, b);
    }
}
