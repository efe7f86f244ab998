package dev.tenon.platform.server.llamacpp;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.core.control.SamplingNumber;

/// Writes how tokens are sampled, by the names of requests.
final class GenerationSettings {
    private GenerationSettings() {}

    /// {@return what holds where a request says nothing}
    ///
    /// @param sampling of the model
    static ObjectNode of(SamplingParams sampling) {
        ObjectNode settings = Json.object();
        for (SamplingNumber number : SamplingNumber.values()) {
            if (number.isWhole()) {
                settings.put(number.field(), (int) number.of(sampling));
            } else {
                settings.put(number.field(), (float) number.of(sampling));
            }
        }
        ArrayNode stages = settings.putArray("samplers");
        sampling.stages().forEach(stage -> stages.add(stage.id()));
        return settings;
    }

    /// {@return what held for a reply, with the seed that makes the same one again}
    ///
    /// @param request what was generated
    /// @param context positions of a sequence
    static ObjectNode of(GenerationRequest request, int context) {
        ObjectNode settings = of(request.sampling())
                .put("seed", request.sampling().seed())
                .put("n_ctx", context)
                .put("n_predict", request.maxNewTokens())
                .put("n_probs", Math.max(0, request.logProbabilities()))
                .put("ignore_eos", request.ignoreEndOfGeneration());
        ArrayNode stop = settings.putArray("stop");
        request.stop().forEach(stop::add);
        return settings;
    }
}
