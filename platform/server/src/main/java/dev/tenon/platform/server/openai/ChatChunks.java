package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.ChoiceOutput;
import dev.tenon.platform.server.generation.ReplyListener;
import dev.tenon.platform.server.http.EventStream;
import java.util.List;

/// One of the replies of a stream of chat/completions.
final class ChatChunks implements ChoiceOutput {
    private final int index;
    private final ObjectNode head;
    private final EventStream events;
    private final boolean logProbabilities;
    private ReplyListener listener;
    private boolean begun;

    /// @param head what all chunks have
    ChatChunks(int index, ObjectNode head, EventStream events, boolean logProbabilities) {
        this.index = index;
        this.head = head;
        this.events = events;
        this.logProbabilities = logProbabilities;
    }

    @Override
    public void begins(ReplyListener with) {
        listener = with;
    }

    @Override
    public void reasoning(String text) {
        send(Json.object().put("reasoning_content", text), null);
    }

    @Override
    public void text(String text) {
        send(Json.object().put("content", text), null);
    }

    @Override
    public void callBegins(int number, String id, String name) {
        ObjectNode delta = Json.object();
        delta.putArray("tool_calls")
                .addObject()
                .put("index", number)
                .put("id", id)
                .put("type", "function")
                .putObject("function")
                .put("name", name)
                .put("arguments", "");
        send(delta, null);
    }

    @Override
    public void callArguments(int number, String json) {
        ObjectNode delta = Json.object();
        delta.putArray("tool_calls")
                .addObject()
                .put("index", number)
                .putObject("function")
                .put("arguments", json);
        send(delta, null);
    }

    @Override
    public void ends(Ending ending) {
        send(Json.object(), Wire.reason(ending.reason()));
    }

    private void send(ObjectNode delta, String reason) {
        if (!begun) {
            begun = true;
            chunk(Json.object().put("role", "assistant").put("content", ""), null, List.of());
        }
        chunk(delta, reason, listener.takeTokens());
    }

    private void chunk(ObjectNode delta, String reason, List<GeneratedToken> tokens) {
        ObjectNode chunk = head.deepCopy();
        ObjectNode choice = chunk.putArray("choices").addObject().put("index", index);
        choice.set("delta", delta);
        if (logProbabilities && !tokens.isEmpty()) {
            choice.set("logprobs", Wire.logProbabilities(listener.tokenizer(), tokens));
        } else {
            choice.putNull("logprobs");
        }
        choice.put("finish_reason", reason);
        events.send(chunk);
    }
}
