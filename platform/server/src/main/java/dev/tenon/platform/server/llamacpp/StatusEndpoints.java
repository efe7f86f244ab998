package dev.tenon.platform.server.llamacpp;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.media.Modalities;
import dev.tenon.platform.server.models.ServedModel;
import java.util.OptionalInt;

/// `GET /props` and `GET /slots`, of the first model or that of the parameter `model`.
///
/// @param replies finds models
record StatusEndpoints(Replies replies) {
    private static final int UNAVAILABLE = 503;

    /// What is known of a model; of one that is not loaded what needs no loading.
    void props(Exchange exchange) {
        ServedModel served = replies.generations().model(exchange.parameter("model"));
        ObjectNode answer = Json.object();
        ObjectNode settings = answer.putObject("default_generation_settings");
        served.loaded().ifPresent(model -> settings.put("n_ctx", model.contextLength()));
        settings.set("params", GenerationSettings.of(served.spec().sampling()));
        answer.put("total_slots", served.admission().places())
                .put("model_alias", served.spec().name())
                .put("model_path", served.spec().request().path().getFileName().toString());
        answer.put("media_marker", CompletionEndpoint.MARK).set("modalities", Modalities.of(served.loaded()));
        served.loaded().ifPresent(model -> tokens(answer, model));
        exchange.json(answer.put("build_info", "tenon")
                .put("is_sleeping", served.loaded().isEmpty()));
    }

    private static void tokens(ObjectNode answer, LoadedModel model) {
        Tokenizer tokenizer = model.tokenizer();
        answer.put("chat_template", model.chatTemplateSource().orElse(""))
                .put("bos_token", piece(tokenizer, tokenizer.bos()))
                .put("eos_token", piece(tokenizer, tokenizer.eos()));
    }

    private static String piece(Tokenizer tokenizer, OptionalInt token) {
        return token.isPresent() ? tokenizer.piece(token.getAsInt()) : "";
    }

    /// A slot for each place of the model's queue. Which sequence has which of them is not told: it has none for long.
    void slots(Exchange exchange) {
        ServedModel served = replies.generations().model(exchange.parameter("model"));
        int running = served.admission().running();
        int places = served.admission().places();
        if ("1".equals(exchange.parameter("fail_on_no_slot")) && running >= places) {
            throw RequestException.later(
                    UNAVAILABLE, "unavailable_error", "no_slot", "All " + places + " slots are taken.", 1);
        }
        ArrayNode slots = Json.array();
        int context = served.loaded().map(LoadedModel::contextLength).orElse(0);
        for (int i = 0; i < places; i++) {
            slots.addObject()
                    .put("id", i)
                    .put("n_ctx", context)
                    .put("speculative", false)
                    .put("is_processing", i < running);
        }
        exchange.json(slots);
    }
}
