package dev.tenon.platform.server.metrics;

import java.util.Arrays;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/// Counts values by size. Safe for any thread; recording never waits.
public final class Histogram {
    private final double[] bounds;
    private final LongAdder[] counts;
    private final DoubleAdder sum;

    /// @param bounds upper bounds of the buckets, rising; one more has no bound
    /// @param counts of each bucket
    /// @param sum of all values
    Histogram(double[] bounds, LongAdder[] counts, DoubleAdder sum) {
        this.bounds = bounds;
        this.counts = counts;
        this.sum = sum;
    }

    /// Counts a time.
    ///
    /// @param nanos the time
    public void recordNanos(long nanos) {
        record(nanos / 1e9);
    }

    void record(double value) {
        int at = Arrays.binarySearch(bounds, value);
        counts[at < 0 ? -at - 1 : at].increment();
        sum.add(value);
    }

    /// Writes the lines of one series.
    ///
    /// @param labels such as `model_name="a"`; empty for none
    void write(StringBuilder out, String name, String labels) {
        long total = 0;
        String before = labels.isEmpty() ? "" : labels + ",";
        for (int i = 0; i < counts.length; i++) {
            total += counts[i].sum();
            String bound = i < bounds.length ? Metrics.number(bounds[i]) : "+Inf";
            out.append(name)
                    .append("_bucket{")
                    .append(before)
                    .append("le=\"")
                    .append(bound)
                    .append("\"} ")
                    .append(total)
                    .append('\n');
        }
        String own = labels.isEmpty() ? "" : "{" + labels + "}";
        out.append(name).append("_sum").append(own).append(' ').append(Metrics.number(sum.sum()));
        out.append('\n').append(name).append("_count").append(own).append(' ').append(total);
        out.append('\n');
    }
}
