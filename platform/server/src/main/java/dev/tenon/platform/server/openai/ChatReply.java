package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.platform.chat.CollectedReply;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.chat.ReplyListener;
import dev.tenon.platform.server.generation.ChoiceOutput;
import java.util.List;

/// One of the replies of a plain answer of chat/completions.
final class ChatReply implements ChoiceOutput {
    private final int index;
    private final boolean logProbabilities;
    private final boolean manyCalls;
    private final CollectedReply reply = new CollectedReply();
    private ReplyListener listener;
    private Ending ending;

    ChatReply(int index, boolean logProbabilities, boolean manyCalls) {
        this.index = index;
        this.logProbabilities = logProbabilities;
        this.manyCalls = manyCalls;
    }

    @Override
    public void begins(ReplyListener with) {
        listener = with;
    }

    @Override
    public void reasoning(String text) {
        reply.reasoning(text);
    }

    @Override
    public void content(String text) {
        reply.content(text);
    }

    @Override
    public void call(int number, String id, String name) {
        reply.call(number, id, name);
    }

    @Override
    public void arguments(int number, String json) {
        reply.arguments(number, json);
    }

    @Override
    public void uncalled(int number) {
        reply.uncalled(number);
    }

    @Override
    public void ends(Ending end) {
        ending = end;
    }

    /// {@return the choice, once it has ended}
    ObjectNode choice() {
        ObjectNode choice = Json.object().put("index", index);
        ObjectNode message = choice.putObject("message").put("role", "assistant");
        List<CollectedReply.Call> calls = reply.calls();
        if (reply.content().isEmpty() && !calls.isEmpty()) {
            message.putNull("content");
        } else {
            message.put("content", reply.content());
        }
        message.putNull("refusal");
        if (!reply.reasoning().isEmpty()) {
            message.put("reasoning_content", reply.reasoning());
        }
        if (!calls.isEmpty()) {
            ArrayNode array = message.putArray("tool_calls");
            for (CollectedReply.Call call : manyCalls ? calls : calls.subList(0, 1)) {
                array.addObject()
                        .put("id", call.id())
                        .put("type", "function")
                        .putObject("function")
                        .put("name", call.name())
                        .put("arguments", call.arguments().toString());
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
