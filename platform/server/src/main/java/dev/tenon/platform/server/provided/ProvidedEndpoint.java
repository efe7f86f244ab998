package dev.tenon.platform.server.provided;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.http.HttpBody;
import dev.tenon.api.http.HttpEndpoint;
import dev.tenon.api.http.HttpFields;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.Route;
import dev.tenon.platform.server.http.Use;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// An end point of a provider.
///
/// @param endpoint the end point
/// @param context what its exchanges give
record ProvidedEndpoint(HttpEndpoint endpoint, Context context) implements Endpoint {
    /// What exchanges give besides the request.
    ///
    /// @param engine the engine
    /// @param generations finds models, and has their queues
    record Context(Engine engine, Generations generations) {}

    /// {@return its route}
    ///
    /// @param use who uses its provider
    Route route(Use use) {
        return new Route(endpoint.method(), endpoint.path(), endpoint.open(), this, use);
    }

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        ProvidedExchange provided = new ProvidedExchange(exchange, body(exchange), context);
        try {
            endpoint.handler().handle(provided);
        } catch (UncheckedIOException e) {
            if (provided.isLost()) {
                throw e;
            }
            throw new IllegalStateException(endpoint.path() + " failed to read or write", e);
        }
        provided.requireAnswer();
    }

    /// {@return the checked body; null where the end point has no fields}
    private HttpBody body(Exchange exchange) {
        HttpFields fields = endpoint.fields();
        if (fields.others() == HttpFields.Others.UNREAD) {
            return null;
        }
        FieldTable table = new FieldTable(fields.names(), Set.of(), Map.of(), Map.of());
        ObjectNode body = exchange.body();
        if (fields.others() == HttpFields.Others.REFUSED) {
            table.check(body);
        } else {
            List<String> unknown = table.unknown(body);
            exchange.ignores(unknown);
            body.remove(unknown);
        }
        Map<String, Object> values = new LinkedHashMap<>();
        body.properties().forEach(each -> values.put(each.getKey(), Json.plain(each.getValue())));
        return new HttpBody(values);
    }
}
