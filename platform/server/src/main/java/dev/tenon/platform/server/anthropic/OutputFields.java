package dev.tenon.platform.server.anthropic;

import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.openai.EnforcedFields;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The fields `thinking`, `output_config` and the older `output_format`.
final class OutputFields {
    private static final FieldTable CONFIG = FieldTable.of("effort format", "task_budget", Map.of());

    private OutputFields() {}

    /// {@return variables of the template that have the model think, or not, and how much}
    ///
    /// @param body the request
    static Map<String, Object> variables(Body body) {
        Map<String, Object> variables = new LinkedHashMap<>();
        Body thinking = body.object("thinking");
        if (thinking != null) {
            String type = thinking.requiredText("type");
            if (!List.of("enabled", "adaptive", "between_tools", "disabled").contains(type)) {
                throw thinking.wrong("type", "enabled, adaptive, between_tools or disabled");
            }
            variables.put("enable_thinking", !type.equals("disabled"));
        }
        Body config = config(body);
        if (config != null && config.has("effort")) {
            variables.put("reasoning_effort", config.text("effort"));
        }
        return variables;
    }

    /// {@return most tokens of reasoning; -1 if the request does not say}
    ///
    /// @param body the request
    static int budget(Body body) {
        Body thinking = body.object("thinking");
        return thinking == null ? -1 : (int) thinking.whole("budget_tokens", 0, Integer.MAX_VALUE, -1);
    }

    /// {@return what the reply has to be}
    ///
    /// @param body the request
    /// @throws RequestException (400) if it names two formats, or one that is unknown
    static TextFormat format(Body body) {
        Body config = config(body);
        Body format = config == null ? null : config.object("format");
        Body older = body.object("output_format");
        if (format != null && older != null) {
            throw RequestException.invalid(
                    "output_format", "output_format and output_config.format exclude each other.");
        }
        if (format == null && older == null) {
            return TextFormat.any();
        }
        return format == null
                ? EnforcedFields.format(older, "output_format", "")
                : EnforcedFields.format(format, "output_config.format", "");
    }

    private static Body config(Body body) {
        Body config = body.object("output_config");
        if (config != null) {
            CONFIG.check(config.node());
        }
        return config;
    }
}
