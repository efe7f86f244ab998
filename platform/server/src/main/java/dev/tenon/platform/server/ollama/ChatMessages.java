package dev.tenon.platform.server.ollama;

import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.RequestException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads messages of Ollama's wire into the form that templates take.
final class ChatMessages {
    private static final int MOST_MESSAGES = 4096;
    private static final int MOST_CALLS = 128;
    private static final String CONTENT = "content";
    private static final List<String> ROLES = List.of("system", "user", "assistant", "tool");
    private static final FieldTable FIELDS =
            FieldTable.of("role content thinking tool_calls tool_name tool_call_id images", "", Map.of());

    private ChatMessages() {}

    /// {@return the messages of a request; none where it has none}
    ///
    /// @param body the request
    static List<Map<String, Object>> read(Body body) {
        List<Map<String, Object>> messages = new ArrayList<>();
        for (Body message : body.objects("messages", MOST_MESSAGES)) {
            FIELDS.check(message.node());
            requireNoImages(message);
            messages.add(message(message));
        }
        return messages;
    }

    /// Refuses images; an empty list of them is none.
    ///
    /// @param body a request or message
    static void requireNoImages(Body body) {
        if (!body.array("images", Integer.MAX_VALUE).isEmpty()) {
            throw RequestException.tooMuch(
                    body.path() + "images", "unsupported_parameter", "images are not supported; send text.");
        }
    }

    private static Map<String, Object> message(Body body) {
        String role = body.requiredText("role");
        if (!ROLES.contains(role)) {
            throw body.wrong("role", "system, user, assistant or tool");
        }
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put(CONTENT, body.has(CONTENT) ? body.text(CONTENT) : "");
        if (body.has("thinking")) {
            message.put("reasoning_content", body.text("thinking"));
        }
        if (body.has("tool_name")) {
            message.put("name", body.text("tool_name"));
        }
        if (body.has("tool_call_id")) {
            message.put("tool_call_id", body.text("tool_call_id"));
        }
        List<Object> calls = new ArrayList<>();
        for (Body call : body.objects("tool_calls", MOST_CALLS)) {
            calls.add(call(call));
        }
        if (!calls.isEmpty()) {
            message.put("tool_calls", calls);
        }
        return message;
    }

    private static Map<String, Object> call(Body call) {
        Body function = call.object("function");
        if (function == null) {
            throw call.wrong("function", "an object");
        }
        Body arguments = function.object("arguments");
        Map<String, Object> named = new LinkedHashMap<>();
        named.put("name", function.requiredText("name"));
        named.put("arguments", arguments == null ? Map.of() : Json.plain(arguments.node()));
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("id", call.has("id") ? call.text("id") : "");
        map.put("type", "function");
        map.put("function", named);
        return map;
    }
}
