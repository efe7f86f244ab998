package dev.tenon.api.metrics;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// A request that a server has answered.
///
/// @param id its id, which the answer and the access log have, too
/// @param method such as `POST`
/// @param endpoint path of the end point that answered it; `none` if there is none
/// @param principal whose request it is; empty if the server has no keys
/// @param traceParent the `traceparent` of W3C Trace Context that the client sent; empty if it sent none
/// @param status HTTP status; 0 if the client had left
/// @param begin when it came
/// @param time how long it took
/// @param generations the replies that came to their end for it; several if it asked for several choices,
///     none if it did not generate, or failed
public record FinishedRequest(
        String id,
        String method,
        String endpoint,
        String principal,
        String traceParent,
        int status,
        Instant begin,
        Duration time,
        List<FinishedGeneration> generations) {
    /// Keeps a copy of the list.
    public FinishedRequest {
        generations = List.copyOf(generations);
    }
}
