package dev.tenon.platform.server.ollama;

import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelManager;
import java.util.Map;

/// `DELETE /api/delete`.
///
/// @param manager deletes
public record DeleteEndpoint(ModelManager manager) implements OllamaEndpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of("model name", "", Map.of());

    @Override
    public void handle(Exchange exchange) {
        Body body = OllamaEndpoint.body(exchange, FIELDS);
        manager.delete(OllamaEndpoint.model(body));
        exchange.empty();
    }
}
