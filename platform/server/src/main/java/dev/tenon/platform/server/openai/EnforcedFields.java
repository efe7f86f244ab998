package dev.tenon.platform.server.openai;

import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolChoice;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.http.Exchange;
import java.util.ArrayList;
import java.util.List;

/// The fields that say what a reply has to be. What cannot be enforced is refused.
public final class EnforcedFields {
    private static final String ANY_OBJECT = "{\"type\":\"object\"}";

    private EnforcedFields() {}

    /// {@return what `response_format`, `json_schema` and `grammar` ask for}
    ///
    /// @param body the request
    public static TextFormat format(Body body) {
        List<TextFormat> all = new ArrayList<>();
        Body format = body.object("response_format");
        if (format != null) {
            all.add(format(format, "response_format", "json_schema"));
        }
        Body schema = body.object("json_schema");
        if (schema != null) {
            all.add(TextFormat.schema(Json.text(schema.node())));
        }
        if (body.has("grammar")) {
            all.add(TextFormat.grammar(body.text("grammar")));
        }
        all.removeIf(each -> each instanceof TextFormat.Any);
        if (all.size() > 1) {
            throw RequestException.invalid(
                    "response_format", "Only one of response_format, json_schema and grammar can hold.");
        }
        return all.isEmpty() ? TextFormat.any() : all.getFirst();
    }

    /// {@return what a format asks for}
    ///
    /// @param format an object with a type
    /// @param field its name
    /// @param holder the field inside it that holds name and schema; empty where it does itself
    public static TextFormat format(Body format, String field, String holder) {
        String type = format.requiredText("type");
        return switch (type) {
            case "text" -> TextFormat.any();
            case "json_object" -> {
                Body schema = format.object("schema");
                yield TextFormat.schema(schema == null ? ANY_OBJECT : Json.text(schema.node()));
            }
            case "json_schema" -> {
                Body named = holder.isEmpty() ? format : format.object(holder);
                Body schema = named == null ? null : named.object("schema");
                if (schema == null) {
                    throw RequestException.invalid(field, field + " has no schema; expected one in json_schema.");
                }
                yield TextFormat.schema(Json.text(schema.node()));
            }
            default ->
                throw RequestException.invalid(
                        field,
                        field + " has the type '" + Exchange.printable(type)
                                + "'; expected text, json_object or json_schema.");
        };
    }

    /// {@return what `tool_choice` asks for}
    ///
    /// @param body the request
    /// @param tools the tools that may be called
    /// @param format what else is asked for
    static ToolChoice calls(Body body, List<Tool> tools, TextFormat format) {
        if (!body.has("tool_choice")) {
            return ToolChoice.AUTO;
        }
        String word = body.node().get("tool_choice").isTextual() ? body.text("tool_choice") : null;
        if ("none".equals(word) || "auto".equals(word)) {
            return word.equals("none") ? ToolChoice.NONE : ToolChoice.AUTO;
        }
        String name = null;
        Body allowed = allowed(body);
        if (allowed != null) {
            String mode = allowed.requiredText("mode");
            if (mode.equals("auto")) {
                return ToolChoice.AUTO;
            }
            if (!mode.equals("required")) {
                throw allowed.wrong("mode", "auto or required");
            }
        } else if (word == null) {
            Body choice = body.object("tool_choice");
            Body function = choice.object("function");
            if (!choice.requiredText("type").equals("function")) {
                throw choice.wrong("type", "function or allowed_tools");
            }
            name = (function == null ? choice : function).requiredText("name");
        } else if (!word.equals("required")) {
            throw body.wrong("tool_choice", "none, auto, required or a function");
        }
        if (tools.isEmpty()) {
            throw RequestException.invalid("tool_choice", "tool_choice needs tools.");
        }
        if (!(format instanceof TextFormat.Any)) {
            throw RequestException.invalid("tool_choice", "A reply cannot be both a call and of a format.");
        }
        return name == null ? ToolChoice.REQUIRED : ToolChoice.named(name);
    }

    /// {@return the tools that may be called: some of them, where `tool_choice` says so}
    ///
    /// @param body the request
    /// @param tools the tools that there are
    static List<Tool> callable(Body body, List<Tool> tools) {
        Body allowed = allowed(body);
        if (allowed == null) {
            return tools;
        }
        List<Tool> callable = new ArrayList<>();
        for (Body tool : allowed.objects("tools", Messages.MOST_TOOLS)) {
            Body function = tool.object("function");
            String name = (function == null ? tool : function).requiredText("name");
            callable.add(tools.stream()
                    .filter(each -> each.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> tool.wrong("name", "the name of one of the tools")));
        }
        return callable;
    }

    /// The allowed tools of `tool_choice`, which responses have in the choice itself; null where it names none.
    private static Body allowed(Body body) {
        Body choice = body.has("tool_choice") && body.node().get("tool_choice").isObject()
                ? body.object("tool_choice")
                : null;
        if (choice == null || !"allowed_tools".equals(choice.text("type"))) {
            return null;
        }
        Body allowed = choice.object("allowed_tools");
        return allowed == null ? choice : allowed;
    }
}
