package dev.tenon.platform.server.models;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.platform.chat.Json;
import java.util.ArrayList;
import java.util.List;

/// The turns of a preset as JSON: as a file keeps them, and as the server shows them.
public final class KeptTurns {
    private KeptTurns() {}

    /// {@return the JSON of a turn}
    ///
    /// @param turn the turn
    public static ObjectNode write(ChatTurn turn) {
        ObjectNode node = Json.object().put("role", turn.role()).put("content", turn.text());
        put(node, "name", turn.name());
        put(node, "tool_call_id", turn.callId());
        put(node, "reasoning_content", turn.reasoning());
        if (!turn.calls().isEmpty()) {
            ArrayNode calls = node.putArray("tool_calls");
            for (ToolCall call : turn.calls()) {
                ObjectNode function = calls.addObject()
                        .put("id", call.id())
                        .put("type", "function")
                        .putObject("function")
                        .put("name", call.name());
                JsonNode arguments = Json.parse(call.arguments());
                function.set("arguments", arguments == null ? Json.tree(call.arguments()) : arguments);
            }
        }
        return node;
    }

    private static void put(ObjectNode node, String name, String value) {
        if (value != null) {
            node.put(name, value);
        }
    }

    /// {@return the turn in a JSON that [#write] made}
    ///
    /// @param node the JSON
    public static ChatTurn read(JsonNode node) {
        List<ToolCall> calls = new ArrayList<>();
        for (JsonNode call : node.path("tool_calls")) {
            JsonNode arguments = call.at("/function/arguments");
            calls.add(new ToolCall(
                    call.path("id").asText(),
                    call.at("/function/name").asText(),
                    arguments.isTextual() ? arguments.asText() : Json.text(arguments)));
        }
        return new ChatTurn(
                node.path("role").asText(),
                node.path("content").asText(),
                text(node, "reasoning_content"),
                calls,
                text(node, "tool_call_id"),
                text(node, "name"),
                List.of());
    }

    private static String text(JsonNode node, String name) {
        return node.hasNonNull(name) ? node.get(name).asText() : null;
    }
}
