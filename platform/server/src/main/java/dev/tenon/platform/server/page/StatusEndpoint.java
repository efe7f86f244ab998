package dev.tenon.platform.server.page;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.control.SchedulingStatus;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.media.Modalities;
import dev.tenon.platform.server.models.ModelCatalog;
import dev.tenon.platform.server.models.ServedModel;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BooleanSupplier;

/// `GET /tenon/status`: the models with queue and cache, and the process, as they are now. Quick enough to be asked for
/// each second.
///
/// @param catalog the models
/// @param management which changes may be asked for
/// @param ready whether the server takes work
/// @param prefix what names of metrics begin with
/// @param started when the server was started
public record StatusEndpoint(
        ModelCatalog catalog, Management management, BooleanSupplier ready, String prefix, Instant started)
        implements Endpoint {
    private static final double MILLIS = 1e6;

    @Override
    public void handle(Exchange exchange) {
        ObjectNode body = Json.object()
                .put("ready", ready.getAsBoolean())
                .put("uptime_seconds", Duration.between(started, Instant.now()).toSeconds())
                .put("metrics_prefix", prefix);
        body.putObject("manage")
                .put("models", management.models())
                .put("allowed", management.allowed())
                .put("bundles", management.bundles().isPresent());
        Runtime runtime = Runtime.getRuntime();
        body.putObject("heap")
                .put("used_bytes", runtime.totalMemory() - runtime.freeMemory())
                .put("max_bytes", runtime.maxMemory());
        ArrayNode models = body.putArray("models");
        catalog.list().forEach(model -> models.add(model(model)));
        exchange.json(body);
    }

    private static ObjectNode model(ServedModel model) {
        ObjectNode node = Json.object()
                .put("name", model.spec().name())
                .put("pinned", model.pinned())
                .put("file_bytes", model.bytes())
                .put("memory_bytes", model.memoryBytes())
                .put("running", model.admission().running())
                .put("waiting", model.admission().queued())
                .put("loaded", model.loaded().isPresent());
        ArrayNode aliases = node.putArray("aliases");
        model.spec().aliases().forEach(aliases::add);
        model.expires().ifPresent(when -> node.put("expires", when.toString()));
        node.set("modalities", Modalities.of(model.loaded()));
        model.loaded().ifPresent(loaded -> describe(loaded, node));
        return node;
    }

    private static void describe(LoadedModel loaded, ObjectNode node) {
        node.put("architecture", loaded.config().architecture())
                .put("context_length", loaded.contextLength())
                .put("backend", loaded.backend())
                .put("device", loaded.device().name())
                .put("load_ms", Math.round(loaded.loadNanos() / MILLIS))
                .put("chat", loaded.chatTemplate().isPresent());
        if (loaded instanceof ScheduledModel scheduled) {
            SchedulingStatus status = scheduled.scheduling();
            node.putObject("cache")
                    .put("pages", status.pages())
                    .put("free_pages", status.freePages())
                    .put("kept_pages", status.keptPages())
                    .put("reused_tokens", status.reusedTokens())
                    .put("preemptions", status.preemptions());
        }
    }
}
