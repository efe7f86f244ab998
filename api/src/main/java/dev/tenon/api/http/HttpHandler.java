package dev.tenon.api.http;

import org.osgi.annotation.versioning.ConsumerType;

/// Answers requests. Called on many threads, for each request on a virtual thread of its own; may
/// block.
@ConsumerType
@FunctionalInterface
public interface HttpHandler {
    /// Answers a request, exactly once.
    ///
    /// Any other exception than these becomes an answer of status 500 without details; a
    /// [dev.tenon.api.error.TenonException] what it becomes on the server's own paths.
    ///
    /// @param exchange the request and its answer; not to be used after the call
    /// @throws RequestException if the request is refused
    /// @throws InterruptedException if the client left, or the server or the bundle ends
    void handle(HttpExchange exchange) throws InterruptedException;
}
