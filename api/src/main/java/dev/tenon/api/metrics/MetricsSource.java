package dev.tenon.api.metrics;

import java.util.List;
import org.osgi.annotation.versioning.ProviderType;

/// The counters of a server. Safe for any thread.
@ProviderType
@FunctionalInterface
public interface MetricsSource {
    /// {@return all counters, gauges and histograms as they are now, sorted by name; those that the server's
    /// page for Prometheus is made of}
    List<MetricFamily> read();
}
