package dev.tenon.api.metrics;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// One value.
///
/// @param labels what it is about, such as `model_name` to `story`, in their order; unmodifiable
/// @param value the value; of a histogram the sum
/// @param buckets of a histogram; else empty
public record MetricSeries(Map<String, String> labels, double value, List<Bucket> buckets) {
    /// Keeps copies of labels and buckets.
    public MetricSeries {
        labels = Collections.unmodifiableMap(new LinkedHashMap<>(labels));
        buckets = List.copyOf(buckets);
    }

    /// How many values of a size were added to a histogram.
    ///
    /// @param most the largest size; above that of the bucket before. Infinite in the last one
    /// @param count how many, without those of other buckets
    public record Bucket(double most, long count) {}
}
