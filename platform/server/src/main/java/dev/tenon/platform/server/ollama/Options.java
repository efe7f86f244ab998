package dev.tenon.platform.server.ollama;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.SamplingFields;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.Exchange;
import java.util.List;
import java.util.Map;

/// The field `options`, and what else a request asks of its reply.
///
/// @param body the options
public record Options(Body body) {
    /// The fields of the options.
    public static final FieldTable FIELDS = FieldTable.of(
                    "num_predict num_ctx stop",
                    "num_keep num_batch num_gpu main_gpu num_thread use_mmap use_mlock low_vram numa vocab_only f16_kv"
                            + " logits_all embedding_only draft_num_predict",
                    Map.of())
            .and(SamplingFields.TABLE);

    private static final int MOST_LOG_PROBABILITIES = 20;

    /// {@return the options of a request; as in Ollama, unknown ones change nothing}
    ///
    /// @param exchange hears of those
    /// @param request has them in `options`
    static Options of(Exchange exchange, Body request) {
        Body body = request.object("options");
        if (body == null) {
            return new Options(new Body(Json.object(), "options."));
        }
        exchange.ignores(FIELDS.unknown(body.node()).stream()
                .map(name -> body.path() + name)
                .toList());
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
                body.flag("ignore_eos", false),
                SamplingFields.priority(body));
    }

    /// Takes note of a longer context than the model was loaded with: the request has that one.
    ///
    /// @param exchange hears of it
    /// @param model the model
    void limitContext(Exchange exchange, LoadedModel model) {
        if (body.whole("num_ctx", 0, Integer.MAX_VALUE, 0) > model.contextLength()) {
            exchange.ignores(List.of(body.path() + "num_ctx"));
        }
    }
}
