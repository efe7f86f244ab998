package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatReply.Collector;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.ChoiceOutput;
import dev.tenon.platform.server.generation.ReplyListener;
import java.util.List;

/// One of the replies of a plain answer of chat/completions.
final class ChatReply extends Collector implements ChoiceOutput {
    private final int index;
    private final boolean logProbabilities;
    private ReplyListener listener;
    private Ending ending;

    ChatReply(int index, boolean logProbabilities) {
        this.index = index;
        this.logProbabilities = logProbabilities;
    }

    @Override
    public void begins(ReplyListener with) {
        listener = with;
    }

    @Override
    public void ends(Ending end) {
        ending = end;
    }

    /// {@return the choice, once it has ended}
    ObjectNode choice() {
        ObjectNode choice = Json.object().put("index", index);
        ObjectNode message = choice.putObject("message").put("role", "assistant");
        dev.tenon.api.chat.ChatReply reply = reply();
        List<ToolCall> calls = reply.calls();
        if (reply.text().isEmpty() && !calls.isEmpty()) {
            message.putNull("content");
        } else {
            message.put("content", reply.text());
        }
        message.putNull("refusal");
        if (!reply.reasoning().isEmpty()) {
            message.put("reasoning_content", reply.reasoning());
        }
        if (!calls.isEmpty()) {
            ArrayNode array = message.putArray("tool_calls");
            for (ToolCall call : calls) {
                array.addObject()
                        .put("id", call.id())
                        .put("type", "function")
                        .putObject("function")
                        .put("name", call.name())
                        .put("arguments", call.arguments());
            }
        }
        if (logProbabilities) {
            choice.set("logprobs", Wire.logProbabilities(listener.tokenizer(), listener.takeTokens()));
        } else {
            choice.putNull("logprobs");
        }
        return choice.put("finish_reason", Wire.reason(ending.reason()));
    }
}
