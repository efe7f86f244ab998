package dev.tenon.platform.bench.report;

import dev.tenon.platform.bench.measure.Interval;
import dev.tenon.platform.bench.measure.Statistics;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// One thing that a program measured.
///
/// @param testCase what ran, such as `llama-3.2-1b Q6_K pp128`
/// @param backend on what, or the other program that ran it
/// @param metric what was measured, such as `decode`
/// @param unit in what unit
/// @param samples the value of each repetition; at least one; owned by the record
/// @param place where it lies in a series; [Place#NONE] for no series
/// @param ceiling the value that the machine allows at most, measured in the same run; NaN for none
public record Measurement(
        String testCase, String backend, String metric, Unit unit, double[] samples, Place place, double ceiling) {
    /// Where a measurement lies in a series, which is shown as a line.
    ///
    /// @param axis what the axis counts, such as `sequences`; empty for no series
    /// @param series name of the line
    /// @param at the position on the axis
    public record Place(String axis, String series, double at) {
        /// No series.
        public static final Place NONE = new Place("", "", 0);
    }

    public Measurement {
        Objects.requireNonNull(unit, "unit");
        Objects.requireNonNull(place, "place");
        if (samples.length == 0) {
            throw new IllegalArgumentException(testCase + ", " + metric + ": no samples");
        }
    }

    /// {@return the mean}
    public double mean() {
        return Statistics.mean(samples);
    }

    /// {@return the mean with its 95 % interval}
    public Interval interval() {
        return Interval.ofMean(samples);
    }

    /// {@return the sample that so many percent of the samples do not exceed}
    ///
    /// @param percent 0 to 100
    public double percentile(double percent) {
        double[] sorted = samples.clone();
        Arrays.sort(sorted);
        return sorted[Math.max(0, (int) Math.ceil(percent / 100 * sorted.length) - 1)];
    }

    /// {@return the mean's part of the ceiling; NaN where there is none}
    public double shareOfCeiling() {
        return mean() / ceiling;
    }

    /// {@return whether the samples are single events, such as tokens, whose distribution is of
    ///     interest}
    public boolean isDistribution() {
        return samples.length >= 30 && !unit.higherIsBetter();
    }

    /// {@return whether it belongs to a series}
    public boolean hasPlace() {
        return !place.axis.isEmpty();
    }

    /// {@return what makes it the same measurement in two reports}
    public List<Object> key() {
        return List.of(testCase, backend, metric, unit, place);
    }
}
