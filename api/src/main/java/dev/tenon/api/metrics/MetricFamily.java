package dev.tenon.api.metrics;

import java.util.List;

/// Values of one name, each with other labels.
///
/// @param name such as `tenon:prompt_tokens_total`; seconds and tokens are the units
/// @param kind what the values are
/// @param help a sentence on what they mean
/// @param series the values; empty while there are none
public record MetricFamily(String name, Kind kind, String help, List<MetricSeries> series) {
    /// What values are.
    public enum Kind {
        /// They only rise.
        COUNTER,
        /// They rise and fall.
        GAUGE,
        /// They are sums, beside which it is counted how large what was added was.
        HISTOGRAM
    }

    /// Keeps a copy of the list.
    public MetricFamily {
        series = List.copyOf(series);
    }
}
