package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/// Turns and tools in the form that templates take, which is OpenAI's. The order of keys is fixed.
final class TemplateValues {
    private TemplateValues() {}

    /// {@return the tools}
    ///
    /// @param tools their descriptions
    static List<Map<String, Object>> tools(List<Tool> tools) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (Tool tool : tools) {
            Map<String, Object> function = new LinkedHashMap<>();
            function.put("name", tool.name());
            function.put("description", tool.description());
            function.put("parameters", tool.parameters());
            all.add(function(function));
        }
        return all;
    }

    private static Map<String, Object> function(Map<String, Object> function) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("type", "function");
        map.put("function", function);
        return map;
    }

    /// {@return the messages}
    ///
    /// @param turns the turns
    /// @param ids which ids of calls the template takes; a call or result without one gets one if it needs it
    static List<Map<String, Object>> turns(List<ChatTurn> turns, CallIds ids) {
        Map<String, String> known = new HashMap<>();
        Queue<String> unanswered = new ArrayDeque<>();
        List<Map<String, Object>> all = new ArrayList<>();
        boolean media = turns.stream().anyMatch(turn -> !turn.media().isEmpty());
        for (ChatTurn turn : turns) {
            Map<String, Object> message = message(turn.role(), media ? placed(turn) : turn.text());
            if (turn.name() != null) {
                message.put("name", turn.name());
            }
            if (turn.role().equals(ChatTurn.TOOL)) {
                String id = answered(turn, ids, known, unanswered);
                if (id != null) {
                    message.put("tool_call_id", id);
                }
            }
            if (turn.reasoning() != null) {
                message.put("reasoning_content", turn.reasoning());
            }
            if (!turn.calls().isEmpty()) {
                List<Object> calls = new ArrayList<>();
                for (ToolCall call : turn.calls()) {
                    boolean unnamed = call.id().isEmpty();
                    String id = unnamed && ids == CallIds.ANY
                            ? ""
                            : ids.written(unnamed ? "call " + known.size() : call.id(), known);
                    unanswered.add(id);
                    calls.add(call(id, call));
                }
                message.put("tool_calls", calls);
            }
            all.add(message);
        }
        return all;
    }

    /// The text of a turn with as many places as it has pictures and sounds: those that are missing first.
    private static String placed(ChatTurn turn) {
        StringBuilder text = new StringBuilder();
        int left = turn.media().size();
        for (char c : turn.text().toCharArray()) {
            if (c != MediaPart.PLACE || left-- > 0) {
                text.append(c);
            }
        }
        return String.valueOf(MediaPart.PLACE).repeat(Math.max(0, left)) + text;
    }

    /// The id of the call whose result a turn is; null if none is said and none is needed.
    private static String answered(ChatTurn turn, CallIds ids, Map<String, String> known, Queue<String> unanswered) {
        if (turn.callId() != null && !turn.callId().isEmpty()) {
            String id = ids.written(turn.callId(), known);
            unanswered.remove(id);
            return id;
        }
        String next = unanswered.poll();
        return next == null || next.isEmpty() || ids == CallIds.ANY ? turn.callId() : next;
    }

    private static Map<String, Object> call(String id, ToolCall call) {
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", call.name());
        function.put("arguments", arguments(call.arguments()));
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("id", id);
        map.putAll(function(function));
        return map;
    }

    /// Arguments as an object, which templates write as JSON; a text that is none stays a text.
    private static Object arguments(String text) {
        JsonNode parsed = Json.parse(text.isBlank() ? "{}" : text);
        return parsed != null && parsed.isObject() ? Json.plain(parsed) : text;
    }

    static Map<String, Object> message(String role, Object content) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put("content", content);
        return message;
    }

    @SuppressWarnings("unchecked") // JSON
    static Map<String, Object> copy(Object map) {
        return new LinkedHashMap<>((Map<String, Object>) map);
    }
}
