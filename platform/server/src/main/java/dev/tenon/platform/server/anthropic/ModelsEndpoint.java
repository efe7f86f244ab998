package dev.tenon.platform.server.anthropic;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelCatalog;
import dev.tenon.platform.server.models.ServedModel;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/// `GET /v1/models` and `GET /v1/models/NAME` of clients that send the header `anthropic-version`.
///
/// @param catalog the models
/// @param generations finds one of them
public record ModelsEndpoint(ModelCatalog catalog, Generations generations) implements AnthropicEndpoint {
    @Override
    public void handle(Exchange exchange) {
        if (!exchange.rest().isEmpty()) {
            exchange.json(entry(generations.model(URLDecoder.decode(exchange.rest(), StandardCharsets.UTF_8))));
            return;
        }
        ObjectNode list = Json.object();
        ArrayNode data = list.putArray("data");
        catalog.list().forEach(model -> data.add(entry(model)));
        exchange.json(list.put("has_more", false)
                .put("first_id", data.path(0).path("id").asText(null))
                .put("last_id", data.path(data.size() - 1).path("id").asText(null)));
    }

    private static ObjectNode entry(ServedModel model) {
        return Json.object()
                .put("type", "model")
                .put("id", model.spec().name())
                .put("display_name", model.spec().name())
                .put("created_at", model.created().toString())
                .put(
                        "max_input_tokens",
                        model.loaded().map(LoadedModel::contextLength).orElse(null));
    }
}
