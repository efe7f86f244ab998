package dev.tenon.api.http;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.osgi.annotation.versioning.ConsumerType;

/// Sees every request that the server would answer, also those of its own paths: for authentication
/// of one's own, limits of rates, counting. Called on many threads, on that of the request.
@ConsumerType
public interface HttpFilter {
    /// Called before the end point, after the server's own checks of name, origin and key.
    ///
    /// @param request the request
    /// @return whose request it is from now on: who has the same text takes turns; null to leave
    ///     that as it is
    /// @throws RequestException to refuse it
    @Nullable
    String before(HttpCall request);

    /// Called after the answer of each request that [#before] has let pass.
    ///
    /// @param request the request
    /// @param status HTTP status; 0 if the client had left
    /// @param time from the arrival of its head to the end of its answer
    default void after(HttpCall request, int status, Duration time) {}
}
