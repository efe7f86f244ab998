package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.ChoiceOutput;
import dev.tenon.platform.server.generation.ReplyListener;
import dev.tenon.platform.server.http.EventStream;
import java.util.List;

/// One of the continuations of completions, plain or in a stream.
final class TextChoice implements ChoiceOutput {
    private final int index;
    private final ObjectNode head;
    private final EventStream events;
    private final Tokenizer tokenizer;
    private final boolean logProbabilities;
    private final StringBuilder text;
    private ReplyListener listener;
    private Ending ending;
    private int offset;

    /// @param before the prompt, if it is to be repeated
    /// @param head what all chunks have
    /// @param events the stream, or null for a plain answer
    TextChoice(
            int index,
            String before,
            ObjectNode head,
            EventStream events,
            Tokenizer tokenizer,
            boolean logProbabilities) {
        this.index = index;
        this.head = head;
        this.events = events;
        this.tokenizer = tokenizer;
        this.logProbabilities = logProbabilities;
        this.text = new StringBuilder(before);
    }

    @Override
    public void begins(ReplyListener with) {
        listener = with;
    }

    @Override
    public void reasoning(String part) {
        text(part);
    }

    @Override
    public void text(String part) {
        text.append(part);
        if (events != null) {
            chunk(null);
        }
    }

    @Override
    public void callBegins(int number, String id, String name) {
        throw new IllegalStateException("a plain text calls no tools");
    }

    @Override
    public void callArguments(int number, String json) {
        throw new IllegalStateException("a plain text calls no tools");
    }

    @Override
    public void ends(Ending end) {
        ending = end;
        if (events != null) {
            chunk(Wire.reason(end.reason()));
        }
    }

    private void chunk(String reason) {
        ObjectNode chunk = head.deepCopy();
        chunk.putArray("choices").add(choice(reason));
        text.setLength(0);
        events.send(chunk);
    }

    /// {@return the choice, once it has ended}
    ObjectNode whole() {
        return choice(Wire.reason(ending.reason()));
    }

    private ObjectNode choice(String reason) {
        ObjectNode choice = Json.object().put("text", text.toString()).put("index", index);
        if (logProbabilities) {
            choice.set("logprobs", lists(listener.takeTokens()));
        } else {
            choice.putNull("logprobs");
        }
        return choice.put("finish_reason", reason);
    }

    private ObjectNode lists(List<GeneratedToken> tokens) {
        ObjectNode lists = Json.object();
        ArrayNode names = lists.putArray("tokens");
        ArrayNode values = lists.putArray("token_logprobs");
        ArrayNode tops = lists.putArray("top_logprobs");
        ArrayNode offsets = lists.putArray("text_offset");
        for (GeneratedToken token : tokens) {
            String name = Wire.text(tokenizer, token.id());
            names.add(name);
            values.add(Wire.finite(token.logProbability()));
            ObjectNode top = tops.addObject();
            token.top().forEach(t -> top.put(Wire.text(tokenizer, t.id()), Wire.finite(t.logProbability())));
            offsets.add(offset);
            offset += name.length();
        }
        return lists;
    }
}
