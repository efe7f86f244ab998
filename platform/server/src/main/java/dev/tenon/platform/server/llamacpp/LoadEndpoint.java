package dev.tenon.platform.server.llamacpp;

import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.KeepAliveField;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelManager;
import java.util.Map;

/// `POST /models/load` and `POST /models/unload`.
///
/// @param manager loads and unloads
/// @param load whether it loads
public record LoadEndpoint(ModelManager manager, boolean load) implements Endpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of("model keep_alive", "", Map.of());

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        String name = body.requiredText("model");
        exchange.interruptWhenClientLeaves();
        boolean loaded = true;
        if (load) {
            manager.load(name, KeepAliveField.read(body));
        } else {
            loaded = !manager.unload(name);
        }
        exchange.json(Json.object().put("success", true).put("loaded", loaded));
    }
}
