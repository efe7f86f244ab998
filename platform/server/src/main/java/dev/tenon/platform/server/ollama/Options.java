package dev.tenon.platform.server.ollama;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.SamplingFields;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.RequestException;
import java.util.Map;

/// The field `options`, and what else a request asks of its reply.
///
/// @param body the options
public record Options(Body body) {
    /// The fields of the options.
    public static final FieldTable FIELDS = FieldTable.of(
            "num_predict num_ctx stop temperature top_k top_p min_p typical_p repeat_last_n repeat_penalty"
                    + " presence_penalty frequency_penalty seed",
            "num_keep num_batch num_gpu main_gpu num_thread use_mmap use_mlock low_vram numa vocab_only f16_kv"
                    + " logits_all embedding_only",
            Map.of(
                    "mirostat", "Leave it out.",
                    "mirostat_tau", "Leave it out.",
                    "mirostat_eta", "Leave it out.",
                    "tfs_z", "Use min_p.",
                    "penalize_newline", "Leave it out.",
                    "draft_num_predict", "Leave it out."));

    private static final int MOST_LOG_PROBABILITIES = 20;

    /// {@return the options of a request}
    ///
    /// @param request has them in `options`
    static Options of(Body request) {
        Body body = request.object("options");
        if (body == null) {
            return new Options(new Body(Json.object(), "options."));
        }
        FIELDS.check(body.node());
        return new Options(body);
    }

    /// {@return what the request asks of its reply}
    ///
    /// @param request has the fields besides the options
    ReplySettings settings(Body request) {
        boolean logProbabilities = request.flag("logprobs", false);
        int top = (int) request.whole("top_logprobs", 0, MOST_LOG_PROBABILITIES, 0);
        if (top > 0 && !logProbabilities) {
            throw RequestException.invalid("top_logprobs", "top_logprobs needs logprobs; set it, too.");
        }
        return new ReplySettings(
                body,
                1,
                (int) Math.max(-1, body.whole("num_predict", Integer.MIN_VALUE, Integer.MAX_VALUE, -1)),
                SamplingFields.stops(body, "stop"),
                logProbabilities ? top : -1,
                false,
                0);
    }

    /// Refuses a request that wants a longer context than the model was loaded with.
    ///
    /// @param model the model
    void requireContext(LoadedModel model) {
        long wanted = body.whole("num_ctx", 0, Integer.MAX_VALUE, 0);
        if (wanted > model.contextLength()) {
            throw RequestException.invalid(
                    "options.num_ctx",
                    "options.num_ctx is " + wanted + "; the model is loaded with " + model.contextLength()
                            + " positions. Serve it with a larger --context, or leave it out.");
        }
    }
}
