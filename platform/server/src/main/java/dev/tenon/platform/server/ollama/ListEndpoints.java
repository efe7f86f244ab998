package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.ServedModel;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// `GET /api/tags`, the models, and `GET /api/ps`, those that are loaded.
///
/// @param manager has the models
record ListEndpoints(ModelManager manager) {
    private static final Logger LOG = LoggerFactory.getLogger(ListEndpoints.class);
    private static final Duration FOREVER = Duration.ofDays(365L * 290);

    void tags(Exchange exchange) {
        ObjectNode answer = Json.object();
        ArrayNode models = answer.putArray("models");
        for (ServedModel model : manager.list()) {
            try {
                models.add(entry(model));
            } catch (TenonException e) {
                LOG.warn("A model is left out of the list", e); // it may be being written
            }
        }
        exchange.json(answer);
    }

    private ObjectNode entry(ServedModel model) {
        ModelFacts facts = ModelFacts.of(manager, model);
        ObjectNode entry = Json.object()
                .put("name", model.spec().name())
                .put("model", model.spec().name())
                .put("modified_at", facts.modified().toString())
                .put(
                        "size",
                        facts.bytes()
                                + facts.companion().map(CompanionFile::bytes).orElse(0L))
                .put("digest", facts.digest());
        entry.set("details", facts.details());
        return entry;
    }

    void loaded(Exchange exchange) {
        ObjectNode answer = Json.object();
        ArrayNode models = answer.putArray("models");
        for (ServedModel model : manager.list()) {
            model.loaded().ifPresent(loaded -> models.add(loaded(model, loaded)));
        }
        exchange.json(answer);
    }

    private ObjectNode loaded(ServedModel model, LoadedModel loaded) {
        ModelFacts facts = ModelFacts.of(manager, model);
        long bytes = model.memoryBytes();
        ObjectNode entry = Json.object()
                .put("name", model.spec().name())
                .put("model", model.spec().name())
                .put("size", bytes)
                .put("digest", facts.digest());
        entry.set("details", facts.details());
        return entry.put(
                        "expires_at",
                        model.expires()
                                .orElseGet(() -> Instant.now().plus(FOREVER))
                                .toString())
                .put("size_vram", loaded.device().kind().equals("cpu") ? 0 : bytes)
                .put("context_length", loaded.contextLength());
    }
}
