package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.ServedModel;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The fields `format` and `think`.
final class ReplyFields {
    private static final String FORMAT = "format";
    private static final String THINK = "think";
    private static final List<String> EFFORTS = List.of("low", "medium", "high", "max");

    private ReplyFields() {}

    /// {@return what the reply has to be}
    ///
    /// @param body the request
    static TextFormat format(Body body) {
        JsonNode format = body.node().path(FORMAT);
        if (!body.has(FORMAT) || format.isTextual() && format.asText().isEmpty()) {
            return TextFormat.any();
        }
        if (format.isTextual() && format.asText().equals("json")) {
            return TextFormat.schema("{\"type\":\"object\"}");
        }
        if (!format.isObject()) {
            throw body.wrong(FORMAT, "json, or a JSON schema");
        }
        return TextFormat.schema(Json.text(format));
    }

    /// {@return variables of the template that have the model think, or not}
    ///
    /// @param body the request
    /// @param manager knows what the model can
    /// @param served the model
    static Map<String, Object> thinking(Body body, ModelManager manager, ServedModel served) {
        Map<String, Object> variables = new LinkedHashMap<>();
        if (!body.has(THINK)) {
            return variables;
        }
        JsonNode think = body.node().get(THINK);
        boolean effort = think.isTextual() && EFFORTS.contains(think.asText());
        if (!think.isBoolean() && !effort) {
            throw body.wrong(THINK, "true, false, low, medium, high or max");
        }
        boolean wanted = effort || think.asBoolean();
        if (wanted && !ModelFacts.of(manager, served).thinks()) {
            throw RequestException.invalid(
                    THINK, "\"" + served.spec().name() + "\" does not support thinking; leave out think.");
        }
        variables.put("enable_thinking", wanted);
        if (effort) {
            variables.put("reasoning_effort", think.asText());
        }
        return variables;
    }
}
