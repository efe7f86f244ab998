package dev.tenon.platform.server.openai;

import dev.tenon.platform.chat.Enforced;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.RequestException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The fields that say what a reply has to be. What cannot be enforced is refused.
public final class EnforcedFields {
    private static final String ANY_OBJECT = "{\"type\":\"object\"}";

    private EnforcedFields() {}

    /// {@return what `response_format`, `json_schema` and `grammar` ask for}
    ///
    /// @param body the request
    public static Enforced format(Body body) {
        List<Enforced> all = new ArrayList<>();
        Body format = body.object("response_format");
        if (format != null) {
            all.add(format(format, "response_format", "json_schema"));
        }
        Body schema = body.object("json_schema");
        if (schema != null) {
            all.add(new Enforced.Schema(Json.text(schema.node()), "json_schema"));
        }
        if (body.has("grammar")) {
            all.add(new Enforced.Gbnf(body.text("grammar"), "grammar"));
        }
        all.removeIf(each -> each instanceof Enforced.Free);
        if (all.size() > 1) {
            throw RequestException.invalid(
                    "response_format", "Only one of response_format, json_schema and grammar can hold.");
        }
        return all.isEmpty() ? Enforced.nothing() : all.getFirst();
    }

    /// {@return what a format asks for}
    ///
    /// @param format an object with a type
    /// @param field its name
    /// @param holder the field inside it that holds name and schema; empty where it does itself
    static Enforced format(Body format, String field, String holder) {
        String type = format.requiredText("type");
        return switch (type) {
            case "text" -> Enforced.nothing();
            case "json_object" -> {
                Body schema = format.object("schema");
                yield new Enforced.Schema(schema == null ? ANY_OBJECT : Json.text(schema.node()), field);
            }
            case "json_schema" -> {
                Body named = holder.isEmpty() ? format : format.object(holder);
                Body schema = named == null ? null : named.object("schema");
                if (schema == null) {
                    throw RequestException.invalid(field, field + " has no schema; expected one in json_schema.");
                }
                yield new Enforced.Schema(Json.text(schema.node()), field);
            }
            default ->
                throw RequestException.invalid(
                        field,
                        field + " has the type '" + Exchange.printable(type)
                                + "'; expected text, json_object or json_schema.");
        };
    }

    /// {@return what `tool_choice` asks for: calls, or what else holds}
    ///
    /// @param body the request
    /// @param tools the tools that there are
    /// @param format what else is asked for
    static Enforced calls(Body body, List<Map<String, Object>> tools, Enforced format) {
        if (!body.has("tool_choice")) {
            return format;
        }
        String word = body.node().get("tool_choice").isTextual() ? body.text("tool_choice") : null;
        if ("none".equals(word) || "auto".equals(word)) {
            return format;
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
        if (!(format instanceof Enforced.Free)) {
            throw RequestException.invalid("tool_choice", "A reply cannot be both a call and of a format.");
        }
        return new Enforced.Calls(name, name == null && body.flag("parallel_tool_calls", true));
    }

    /// {@return the tools that may be called: none, where `tool_choice` says so}
    static List<Map<String, Object>> callable(Body body, List<Map<String, Object>> tools) {
        boolean none = body.has("tool_choice")
                && body.node().get("tool_choice").asText().equals("none");
        return none ? List.of() : tools;
    }
}
