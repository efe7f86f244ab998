package dev.tenon.platform.server.http;

import dev.tenon.api.http.HttpFilter;
import dev.tenon.api.http.RequestException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A filter that may be taken away while requests run that it has let pass.
///
/// @param filter the filter
/// @param use who uses it
public record UsedFilter(HttpFilter filter, Use use) {
    private static final Logger LOG = LoggerFactory.getLogger(UsedFilter.class);

    /// Has it look at a request, unless it is gone.
    ///
    /// @throws RequestException if it refuses it
    void before(Exchange exchange) {
        if (!use.begin()) {
            return;
        }
        try {
            String principal = filter.before(exchange);
            if (principal != null) {
                exchange.principal(principal);
            }
        } finally {
            use.end();
        }
    }

    /// Tells it of the end of a request, unless it is gone.
    void after(Exchange exchange, int status, long nanos) {
        if (!use.begin()) {
            return;
        }
        try {
            filter.after(exchange, status, Duration.ofNanos(nanos));
        } catch (RuntimeException | LinkageError e) {
            LOG.warn("A filter failed after request {}", exchange.id(), e);
        } finally {
            use.end();
        }
    }
}
