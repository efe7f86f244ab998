package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatReply.Collector;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.ChoiceOutput;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplyListener;
import dev.tenon.platform.server.openai.Wire;
import java.time.Instant;
import java.util.function.Consumer;

/// The reply of `/api/generate` or `/api/chat`: a line for each part, then one that ends it, or one object. For one
/// thread at a time.
final class OllamaReply extends Collector implements ChoiceOutput {
    private static final String CONTENT = "content";
    private static final String RESPONSE = "response";
    private static final String THINKING = "thinking";

    private final String model;
    private final boolean chat;
    private final boolean logProbabilities;
    private final boolean stream;
    private final Consumer<ObjectNode> sink;
    private final long begin = System.nanoTime();
    private long loadNanos;
    private ReplyListener listener;
    private Ending ending;

    /// @param model what the request calls the model
    /// @param chat whether parts are messages
    /// @param stream whether parts are sent as they come
    /// @param logProbabilities whether parts come with those of their tokens
    /// @param sink takes each line, or the one object
    OllamaReply(String model, boolean chat, boolean stream, boolean logProbabilities, Consumer<ObjectNode> sink) {
        this.model = model;
        this.chat = chat;
        this.stream = stream;
        this.logProbabilities = logProbabilities;
        this.sink = sink;
    }

    /// Hears that the model is loaded.
    void loaded() {
        loadNanos = System.nanoTime() - begin;
    }

    @Override
    public void begins(ReplyListener with) {
        listener = with;
    }

    @Override
    public void reasoning(String text) {
        super.reasoning(text);
        part(THINKING, text);
    }

    @Override
    public void text(String text) {
        super.text(text);
        part(chat ? CONTENT : RESPONSE, text);
    }

    private void part(String field, String text) {
        if (!stream) {
            return;
        }
        ObjectNode line = head();
        ObjectNode holder = holder(line).put(chat ? CONTENT : RESPONSE, "").put(field, text);
        attach(line, holder);
        logProbabilities(line);
        sink.accept(line.put("done", false));
    }

    @Override
    public void ends(Ending end) {
        ending = end;
        if (stream && !reply().calls().isEmpty()) {
            ObjectNode line = head();
            attach(line, holder(line).put(CONTENT, "").set("tool_calls", calls()));
            sink.accept(line.put("done", false));
        }
    }

    private ObjectNode head() {
        return Json.object().put("model", model).put("created_at", Instant.now().toString());
    }

    /// The object that holds a part of the reply: a message of a chat, else the line itself.
    private ObjectNode holder(ObjectNode line) {
        return chat ? Json.object().put("role", "assistant") : line;
    }

    private void attach(ObjectNode line, JsonNode holder) {
        if (chat) {
            line.set("message", holder);
        }
    }

    private ArrayNode calls() {
        ArrayNode calls = Json.array();
        for (ToolCall call : reply().calls()) {
            ObjectNode entry = calls.addObject().put("id", call.id());
            entry.putObject("function")
                    .put("index", calls.size() - 1)
                    .put("name", call.name())
                    .set("arguments", Json.object(call.arguments()));
        }
        return calls;
    }

    private void logProbabilities(ObjectNode line) {
        if (logProbabilities) {
            line.set(
                    "logprobs",
                    Wire.logProbabilities(listener.tokenizer(), listener.takeTokens())
                            .get(CONTENT));
        }
    }

    /// {@return the text of the reply}
    String answer() {
        return reply().text();
    }

    /// Ends a reply that generated something.
    ///
    /// @param counts its counts
    /// @param context tokens for the next request, or null
    void finish(Replies.Counts counts, ArrayNode context) {
        ObjectNode last = last(ending.reason() == ChatEnd.LENGTH ? "length" : "stop");
        if (context != null) {
            last.set("context", context);
        }
        last.put("total_duration", System.nanoTime() - begin)
                .put("load_duration", loadNanos)
                .put("prompt_eval_count", counts.prompt())
                .put("prompt_eval_duration", ending.usage().prefillNanos())
                .put("eval_count", counts.generated())
                .put("eval_duration", ending.usage().decodeNanos());
        sink.accept(last);
    }

    /// Ends a request that loaded or unloaded the model and generated nothing.
    ///
    /// @param reason `load` or `unload`
    void finish(String reason) {
        sink.accept(last(reason));
    }

    /// The last line, or the one object.
    private ObjectNode last(String reason) {
        ObjectNode last = head();
        ObjectNode holder = holder(last).put(chat ? CONTENT : RESPONSE, stream ? "" : reply().text());
        if (!stream) {
            if (!reply().reasoning().isEmpty()) {
                holder.put(THINKING, reply().reasoning());
            }
            if (!reply().calls().isEmpty()) {
                holder.set("tool_calls", calls());
            }
        }
        attach(last, holder);
        if (listener != null) {
            logProbabilities(last);
        }
        return last.put("done", true).put("done_reason", reason);
    }
}
