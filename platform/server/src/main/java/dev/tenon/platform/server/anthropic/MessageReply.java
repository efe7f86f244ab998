package dev.tenon.platform.server.anthropic;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.ChatReply.Collector;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.ChoiceOutput;

/// The reply of a plain answer.
final class MessageReply extends Collector implements ChoiceOutput {
    private Ending ending;

    @Override
    public void ends(Ending end) {
        ending = end;
    }

    /// Writes the reply, once it has ended.
    ///
    /// @param message the answer
    void into(ObjectNode message) {
        ChatReply reply = reply();
        ArrayNode content = message.putArray("content");
        if (!reply.reasoning().isEmpty()) {
            content.addObject()
                    .put("type", "thinking")
                    .put("thinking", reply.reasoning())
                    .put("signature", "");
        }
        if (!reply.text().isEmpty()) {
            content.addObject().put("type", "text").put("text", reply.text());
        }
        for (ToolCall call : reply.calls()) {
            ObjectNode block = content.addObject()
                    .put("type", "tool_use")
                    .put("id", call.id())
                    .put("name", call.name());
            block.set("input", Json.object(call.arguments()));
        }
        message.put("stop_reason", reason(ending)).put("stop_sequence", ending.stopText());
    }

    /// {@return value of `stop_reason`}
    static String reason(Ending ending) {
        return switch (ending.reason()) {
            case CALLS -> "tool_use";
            case LENGTH -> "max_tokens";
            case STOP, CANCELLED -> ending.stopText() == null ? "end_turn" : "stop_sequence";
        };
    }
}
