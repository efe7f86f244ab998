package dev.tenon.platform.server.http;

import dev.tenon.api.metrics.FinishedRequest;

/// Hears of each request when it has ended. Called on its thread.
@FunctionalInterface
public interface RequestObserver {
    /// Takes a request.
    ///
    /// @param request the request
    void ended(FinishedRequest request);
}
