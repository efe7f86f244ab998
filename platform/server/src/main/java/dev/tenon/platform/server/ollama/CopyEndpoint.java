package dev.tenon.platform.server.ollama;

import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.ModelSpec;
import java.util.Map;

/// `POST /api/copy`: another name for a model.
///
/// @param manager keeps it
public record CopyEndpoint(ModelManager manager) implements OllamaEndpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of("source destination", "", Map.of());

    @Override
    public void handle(Exchange exchange) {
        Body body = OllamaEndpoint.body(exchange, FIELDS);
        ModelSpec source = manager.require(body.requiredText("source")).spec();
        manager.keep(body.requiredText("destination"), source, source.preset());
        exchange.empty();
    }
}
