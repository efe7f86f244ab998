package dev.tenon.platform.server.generation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.SamplingFields;
import dev.tenon.platform.server.models.Preset;
import java.util.List;

/// What a request asks of its replies, besides the prompt.
///
/// @param body has the fields of sampling
/// @param choices how many replies
/// @param maxTokens most tokens of a reply; -1 until the context is full
/// @param stop texts that end a reply
/// @param logProbabilities how many of the most probable tokens come with each; -1 for no log-probabilities
/// @param ignoreEnd whether to go on after tokens that end a text
/// @param priority higher goes first
public record ReplySettings(
        Body body,
        int choices,
        int maxTokens,
        List<String> stop,
        int logProbabilities,
        boolean ignoreEnd,
        int priority) {
    /// {@return the field that says what a reply has to be}
    String formatField() {
        for (String name : List.of("response_format", "json_schema", "grammar", "output_format")) {
            if (body.has(name)) {
                return name;
            }
        }
        return body.has("text") ? "text.format" : body.has("output_config") ? "output_config.format" : "format";
    }

    /// {@return what holds where the model's preset says what these leave open}
    ///
    /// @param preset what the model says
    ReplySettings after(Preset preset) {
        if (preset.options().isEmpty()) {
            return this;
        }
        ObjectNode fields = Json.object();
        for (String name : SamplingFields.TABLE.used()) {
            boolean ownPenalty = name.equals("repeat_penalty") && body.has("repetition_penalty");
            if (body.has(name)) {
                fields.set(name, body.node().get(name));
            } else if (preset.options().containsKey(name) && !ownPenalty) {
                fields.set(name, Json.tree(preset.options().get(name)));
            }
        }
        return new ReplySettings(
                new Body(fields, body.path()),
                choices,
                maxTokens < 0 ? preset.maxTokens() : maxTokens,
                stop.isEmpty() ? preset.stop() : stop,
                logProbabilities,
                ignoreEnd,
                priority);
    }
}
