package dev.tenon.platform.server.llamacpp;

import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.SamplingFields;
import dev.tenon.platform.server.generation.ReplySettings;
import java.util.Map;

/// The fields that `/completion` and `/infill` have in common.
final class NativeFields {
    /// The fields of a request, but for those of its prompt.
    static final FieldTable TABLE = FieldTable.of(
                    "model n_predict stream stop n_probs n_cmpl n return_tokens grammar json_schema"
                            + " id_slot(a name for the prompt and the reply, for /slots)",
                    "cache_prompt n_keep n_discard n_cache_reuse timings_per_token",
                    Map.ofEntries(
                            Map.entry("n_indent", "Leave it out."),
                            Map.entry("min_keep", "Leave it out."),
                            Map.entry("t_max_predict_ms", "Use n_predict."),
                            Map.entry("response_fields", "Leave it out."),
                            Map.entry("return_progress", "Leave it out.")))
            .and(SamplingFields.TABLE);

    private static final int MOST_LOG_PROBABILITIES = 20;
    private static final int MOST_CHOICES = 128;

    private NativeFields() {}

    /// {@return what a request asks of its reply}
    ///
    /// @param body the request
    static ReplySettings settings(Body body) {
        int top = (int) body.whole("n_probs", 0, MOST_LOG_PROBABILITIES, 0);
        return new ReplySettings(
                body,
                (int) body.whole("n_cmpl", 1, MOST_CHOICES, body.whole("n", 1, MOST_CHOICES, 1)),
                (int) Math.max(-1, body.whole("n_predict", Integer.MIN_VALUE, Integer.MAX_VALUE, -1)),
                SamplingFields.stops(body, "stop"),
                top > 0 ? top : -1,
                body.flag("ignore_eos", false),
                SamplingFields.priority(body));
    }
}
