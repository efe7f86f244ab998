package dev.tenon.platform.server.anthropic;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.platform.chat.CollectedReply;
import dev.tenon.platform.server.generation.ChoiceOutput;

/// The reply of a plain answer.
final class MessageReply implements ChoiceOutput {
    private final CollectedReply reply = new CollectedReply();
    private Ending ending;

    @Override
    public void reasoning(String text) {
        reply.reasoning(text);
    }

    @Override
    public void content(String text) {
        reply.content(text);
    }

    @Override
    public void call(int index, String id, String name) {
        reply.call(index, id, name);
    }

    @Override
    public void arguments(int index, String json) {
        reply.arguments(index, json);
    }

    @Override
    public void uncalled(int index) {
        reply.uncalled(index);
    }

    @Override
    public void ends(Ending end) {
        ending = end;
    }

    /// Writes the reply, once it has ended.
    ///
    /// @param message the answer
    void into(ObjectNode message) {
        ArrayNode content = message.putArray("content");
        if (!reply.reasoning().isEmpty()) {
            content.addObject()
                    .put("type", "thinking")
                    .put("thinking", reply.reasoning())
                    .put("signature", "");
        }
        if (!reply.content().isEmpty()) {
            content.addObject().put("type", "text").put("text", reply.content());
        }
        for (CollectedReply.Call call : reply.calls()) {
            ObjectNode block = content.addObject()
                    .put("type", "tool_use")
                    .put("id", call.id())
                    .put("name", call.name());
            block.set("input", call.input());
        }
        message.put("stop_reason", reason(ending)).put("stop_sequence", ending.stopText());
    }

    /// {@return value of `stop_reason`}
    static String reason(Ending ending) {
        return switch (ending.reason()) {
            case CALLS -> "tool_use";
            case LENGTH -> "max_tokens";
            case STOP -> ending.stopText() == null ? "end_turn" : "stop_sequence";
        };
    }
}
