package dev.tenon.api.metrics;

import org.osgi.annotation.versioning.ConsumerType;

/// Is told of the requests that servers have answered, and may read their counters, to send both
/// elsewhere: as metrics, or as traces.
///
/// A service; all of them are told. No request waits for an exporter: the calls come after the answers,
/// in the order of their ends, one at a time and on one thread for all exporters. Where a thousand
/// requests wait, the next ones are dropped; the server counts them as
/// `exporter_dropped_requests_total`. An exception is logged. When its bundle is to go, an exporter has
/// ten seconds to return; then it is interrupted. An engine must not be injected: it may come after the
/// exporter.
@ConsumerType
@FunctionalInterface
public interface MetricsExporter {
    /// Takes a request that has ended.
    ///
    /// @param request the request; without texts of prompts or answers
    /// @param metrics the counters of the server that answered it; the last one may be kept and read at
    ///     any time
    void finished(FinishedRequest request, MetricsSource metrics);
}
