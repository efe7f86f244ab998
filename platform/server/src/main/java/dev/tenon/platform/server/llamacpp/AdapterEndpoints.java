package dev.tenon.platform.server.llamacpp;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.AdapterFields;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.ServedModel;
import java.util.List;
import java.util.Map;

/// `GET /lora-adapters` and `POST /lora-adapters`, of the first model or that of the parameter `model`.
///
/// @param manager changes models
/// @param replies finds models
record AdapterEndpoints(ModelManager manager, Replies replies) {
    /// Lists the adapters, and with which scales requests use them that choose none.
    void list(Exchange exchange) {
        ServedModel served = replies.generations().model(exchange.parameter("model"));
        List<LoadRequest.Adapter> adapters = served.spec().request().adapters();
        Map<String, Float> scales = served.adapters();
        ArrayNode list = Json.array();
        for (LoadRequest.Adapter adapter : adapters) {
            list.addObject()
                    .put("id", list.size() - 1)
                    .put("path", adapter.path().getFileName().toString())
                    .put("scale", scales == null ? adapter.scale() : scales.getOrDefault(adapter.name(), 0f));
        }
        exchange.json(list);
    }

    /// Sets these scales; an adapter that is not in the list is not used.
    void set(Exchange exchange) {
        ServedModel served = replies.generations().model(exchange.parameter("model"));
        Body list = Body.of(Json.object().set("lora", exchange.array()));
        manager.adapters(served, AdapterFields.read(list, served.spec().request(), Map.of()));
        exchange.json(Json.object().put("success", true));
    }
}
