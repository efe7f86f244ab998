package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.RequestException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Reads the messages and tools of chat/completions into the form that templates take.
public final class Messages {
    static final int MOST_TOOLS = 128;

    private static final int MOST_MESSAGES = 4096;
    private static final int MOST_CALLS = 128;
    private static final int MOST_PARTS = 256;
    private static final Set<String> ROLES = Set.of("system", "user", "assistant", "tool");
    private static final FieldTable FIELDS = FieldTable.of(
            "role content name tool_calls tool_call_id reasoning_content reasoning",
            "refusal annotations prefix",
            Map.of("function_call", "Use tool_calls.", "audio", "There is no audio."));

    private Messages() {}

    /// {@return the messages}
    ///
    /// @param body the request
    public static List<Map<String, Object>> read(Body body) {
        body.require("messages");
        List<Map<String, Object>> messages = new ArrayList<>();
        for (Body message : body.objects("messages", MOST_MESSAGES)) {
            messages.add(message(message));
        }
        if (messages.isEmpty()) {
            throw RequestException.invalid("messages", "messages is empty; expected at least one message.");
        }
        return messages;
    }

    private static Map<String, Object> message(Body body) {
        FIELDS.check(body.node());
        String role = body.requiredText("role");
        role = role.equals("developer") ? "system" : role;
        if (!ROLES.contains(role)) {
            throw RequestException.invalid(
                    body.path() + "role",
                    "There is no role '" + Exchange.printable(role)
                            + "'; expected system, developer, user, assistant or tool.");
        }
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put("content", content(body));
        for (String name : List.of("name", "tool_call_id")) {
            if (body.has(name)) {
                message.put(name, body.text(name));
            }
        }
        String reasoning = body.has("reasoning_content") ? "reasoning_content" : "reasoning";
        if (body.has(reasoning)) {
            message.put("reasoning_content", body.text(reasoning));
        }
        List<Object> calls = new ArrayList<>();
        for (Body call : body.objects("tool_calls", MOST_CALLS)) {
            calls.add(call(call));
        }
        if (!calls.isEmpty()) {
            message.put("tool_calls", calls);
        }
        if (!body.has("content") && calls.isEmpty()) {
            body.require("content");
        }
        return message;
    }

    /// The text of a message, or of its parts.
    static String content(Body body) {
        if (!body.has("content") || body.node().get("content").isTextual()) {
            return body.has("content") ? body.text("content") : "";
        }
        List<String> texts = new ArrayList<>();
        for (Body part : body.objects("content", MOST_PARTS)) {
            String type = part.requiredText("type");
            if (!Set.of("text", "input_text", "output_text").contains(type)) {
                throw RequestException.tooMuch(
                        part.path() + "type",
                        "unsupported_parameter",
                        "Parts of type '" + Exchange.printable(type) + "' are not supported; expected text.");
            }
            texts.add(part.requiredText("text"));
        }
        return String.join("\n", texts);
    }

    private static Map<String, Object> call(Body call) {
        Body function = call.object("function");
        if (function == null) {
            throw call.wrong("function", "an object");
        }
        Map<String, Object> named = new LinkedHashMap<>();
        named.put("name", function.requiredText("name"));
        named.put("arguments", arguments(function.has("arguments") ? function.text("arguments") : "{}"));
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("id", call.has("id") ? call.text("id") : "");
        map.put("type", "function");
        map.put("function", named);
        return map;
    }

    /// {@return arguments as an object, which templates write as JSON; a text that is none stays a text}
    ///
    /// @param text JSON
    static Object arguments(String text) {
        JsonNode parsed = Json.parse(text.isBlank() ? "{}" : text);
        return parsed != null && parsed.isObject() ? Json.plain(parsed) : text;
    }

    /// {@return the tools, as OpenAI describes them}
    ///
    /// @param body the request
    public static List<Map<String, Object>> tools(Body body) {
        List<Map<String, Object>> tools = new ArrayList<>();
        for (Body tool : body.objects("tools", MOST_TOOLS)) {
            String type = tool.requiredText("type");
            Body function = tool.object("function");
            if (!type.equals("function") || function == null) {
                throw RequestException.tooMuch(
                        tool.path() + "type", "unsupported_parameter", "Tools are of type function, with a function.");
            }
            tools.add(tool(function.requiredText("name"), function.text("description"), function.object("parameters")));
        }
        return tools;
    }

    /// {@return a tool}
    ///
    /// @param name its name
    /// @param description what it is for, or null
    /// @param parameters schema of its arguments, or null
    static Map<String, Object> tool(String name, String description, Body parameters) {
        if (!name.matches("[A-Za-z0-9_.-]{1,64}")) {
            throw RequestException.invalid(
                    "tools",
                    "'" + Exchange.printable(name) + "' is no name of a tool; expected letters, digits, _ and -.");
        }
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", name);
        function.put("description", description == null ? "" : description);
        function.put(
                "parameters",
                parameters == null
                        ? new LinkedHashMap<>(Map.of("type", "object", "properties", Map.of()))
                        : Json.plain(parameters.node()));
        Map<String, Object> tool = new LinkedHashMap<>();
        tool.put("type", "function");
        tool.put("function", function);
        return tool;
    }
}
