package dev.tenon.platform.server;

import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.http.HttpEndpoint;
import dev.tenon.api.http.HttpHandler;
import dev.tenon.api.http.RequestException;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/// Whether the server is alive, and whether it takes work. Without a key.
///
/// @param ready whether it takes work
record HealthEndpoints(BooleanSupplier ready) implements EndpointProvider {
    private static final int UNAVAILABLE = 503;

    @Override
    public String id() {
        return "health";
    }

    @Override
    public List<HttpEndpoint> endpoints() {
        HttpHandler alive = exchange -> exchange.json(Map.of("status", "ok"));
        HttpHandler whenReady = exchange -> {
            if (!ready.getAsBoolean()) {
                throw RequestException.of(
                        UNAVAILABLE,
                        "unavailable_error",
                        "not_ready",
                        "Models are being loaded, or the file of one was changed or is damaged (the log names it), or the"
                                + " server ends.");
            }
            alive.handle(exchange);
        };
        return Stream.concat(
                        Stream.of("/health", "/v1/health", "/livez").map(path -> HttpEndpoint.get(path, alive)),
                        Stream.of("/ready", "/readyz").map(path -> HttpEndpoint.get(path, whenReady)))
                .map(HttpEndpoint::withoutKey)
                .toList();
    }
}
