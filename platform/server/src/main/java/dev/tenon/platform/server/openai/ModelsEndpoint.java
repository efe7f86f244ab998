package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.media.Modalities;
import dev.tenon.platform.server.models.ModelCatalog;
import dev.tenon.platform.server.models.ServedModel;
import java.nio.charset.StandardCharsets;

/// `GET /v1/models` and `/v1/models/NAME`.
///
/// @param catalog the models
/// @param generations finds one of them
public record ModelsEndpoint(ModelCatalog catalog, Generations generations) implements Endpoint {
    @Override
    public void handle(Exchange exchange) {
        if (!exchange.rest().isEmpty()) {
            String name = java.net.URLDecoder.decode(exchange.rest(), StandardCharsets.UTF_8);
            exchange.json(entry(generations.model(name)));
            return;
        }
        ObjectNode list = Json.object().put("object", "list");
        ArrayNode data = list.putArray("data");
        catalog.list().forEach(model -> data.add(entry(model)));
        exchange.json(list);
    }

    private static ObjectNode entry(ServedModel model) {
        ObjectNode entry = Json.object()
                .put("id", model.spec().name())
                .put("object", "model")
                .put("created", model.created().getEpochSecond())
                .put("owned_by", "tenon");
        ArrayNode aliases = entry.putArray("aliases");
        model.spec().aliases().forEach(aliases::add);
        ArrayNode inputs = entry.putObject("architecture").putArray("input_modalities");
        inputs.add("text");
        model.spec().companion().ifPresent(companion -> {
            if (companion.sees()) {
                inputs.add("image");
            }
            if (companion.hears()) {
                inputs.add("audio");
            }
        });
        entry.put("loaded", model.loaded().isPresent())
                .put("pinned", model.pinned())
                .put("size", model.bytes())
                .put("memory", model.memoryBytes())
                .put("running", model.admission().running())
                .put("waiting", model.admission().queued());
        model.expires().ifPresent(time -> entry.put("expires_at", time.getEpochSecond()));
        model.loaded()
                .ifPresent(loaded -> entry.put("max_model_len", loaded.contextLength())
                        .set("modalities", Modalities.of(model.loaded())));
        return entry;
    }
}
