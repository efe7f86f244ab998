package dev.tenon.platform.server.metrics;

import dev.tenon.api.metrics.MetricSeries;
import dev.tenon.api.metrics.MetricSeries.Bucket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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

    /// {@return the counts as they are now}
    ///
    /// @param labels what the series is about
    MetricSeries read(Map<String, String> labels) {
        List<Bucket> buckets = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            buckets.add(new Bucket(i < bounds.length ? bounds[i] : Double.POSITIVE_INFINITY, counts[i].sum()));
        }
        return new MetricSeries(labels, sum.sum(), buckets);
    }
}
