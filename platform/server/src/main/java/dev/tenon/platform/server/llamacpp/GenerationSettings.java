package dev.tenon.platform.server.llamacpp;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.chat.Json;

/// Writes how tokens are sampled, by the names of requests.
final class GenerationSettings {
    private GenerationSettings() {}

    /// {@return what holds where a request says nothing}
    ///
    /// @param sampling of the model
    static ObjectNode of(SamplingParams sampling) {
        return Json.object()
                .put("temperature", sampling.temperature())
                .put("top_k", sampling.topK())
                .put("top_p", sampling.topP())
                .put("min_p", sampling.minP())
                .put("typical_p", sampling.typicalP())
                .put("repeat_penalty", sampling.repeatPenalty())
                .put("repeat_last_n", sampling.repeatLastN())
                .put("presence_penalty", sampling.presencePenalty())
                .put("frequency_penalty", sampling.frequencyPenalty());
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
