package dev.tenon.platform.server.openai;

import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolChoice;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.RequestException;
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
    static TextFormat format(Body format, String field, String holder) {
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
    /// @param tools the tools that there are
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
        if (word == null) {
            Body choice = body.object("tool_choice");
            Body function = choice.object("function");
            if (!choice.requiredText("type").equals("function")) {
                throw choice.wrong("type", "function");
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
}
