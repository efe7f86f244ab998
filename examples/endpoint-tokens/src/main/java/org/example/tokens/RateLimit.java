package org.example.tokens;

import dev.tenon.api.http.HttpCall;
import dev.tenon.api.http.HttpFilter;
import dev.tenon.api.http.RequestException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/// Lets each client send some requests a minute to the paths below one; others are refused with
/// 429.
final class RateLimit implements HttpFilter {
    private static final int TOO_MANY = 429;
    private static final long MINUTE = 60_000_000_000L;

    private final String below;
    private final int most;
    private final LongSupplier clock;
    private final Map<String, Minute> minutes = new ConcurrentHashMap<>();

    private record Minute(long begin, int requests) {}

    /// @param below what the paths begin with
    /// @param most how many requests a minute
    /// @param clock tells nanoseconds
    RateLimit(String below, int most, LongSupplier clock) {
        this.below = below;
        this.most = most;
        this.clock = clock;
    }

    @Override
    public String before(HttpCall request) {
        if (request.path().startsWith(below)) {
            long now = clock.getAsLong();
            Minute minute = minutes.compute(
                    request.principal(),
                    (who, last) -> last == null || now - last.begin() >= MINUTE
                            ? new Minute(now, 1)
                            : new Minute(last.begin(), last.requests() + 1));
            if (minute.requests() > most) {
                long left = (MINUTE - (now - minute.begin())) / 1_000_000_000L + 1;
                throw RequestException.later(
                        TOO_MANY,
                        "rate_limit_error",
                        "rate_limit",
                        "More than " + most + " requests came in a minute. Try again in " + left + " s.",
                        (int) left);
            }
        }
        return null;
    }
}
