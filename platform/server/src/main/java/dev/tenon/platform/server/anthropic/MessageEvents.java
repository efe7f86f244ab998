package dev.tenon.platform.server.anthropic;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.ChoiceOutput;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplyListener;
import java.util.function.BiConsumer;

/// The reply of a stream: a message whose blocks begin, grow and end one after the other.
final class MessageEvents implements ChoiceOutput {
    private final ObjectNode message;
    private final BiConsumer<String, ObjectNode> events;
    private final int prompt;
    private ReplyListener listener;
    private boolean begun;
    private int block = -1;
    private String kind = "";
    /// The call that is read, which is sent once it is whole: clients act on it even if it never ends.
    private ObjectNode call;

    private final StringBuilder input = new StringBuilder();
    private Ending ending;

    /// @param message the answer, without content
    /// @param events takes each event, by its type
    /// @param prompt tokens of the prompt
    MessageEvents(ObjectNode message, BiConsumer<String, ObjectNode> events, int prompt) {
        this.message = message;
        this.events = events;
        this.prompt = prompt;
    }

    @Override
    public void begins(ReplyListener with) {
        listener = with;
    }

    @Override
    public void reasoning(String text) {
        open(
                "thinking",
                Json.object().put("type", "thinking").put("thinking", "").put("signature", ""));
        delta(Json.object().put("type", "thinking_delta").put("thinking", text));
    }

    @Override
    public void text(String text) {
        open("text", Json.object().put("type", "text").put("text", ""));
        delta(Json.object().put("type", "text_delta").put("text", text));
    }

    @Override
    public void callBegins(int index, String id, String name) {
        call = Json.object().put("type", "tool_use").put("id", id).put("name", name);
        call.putObject("input");
    }

    @Override
    public void callArguments(int index, String json) {
        input.append(json);
    }

    @Override
    public void callEnds(int index) {
        open("call " + index, call);
        delta(Json.object().put("type", "input_json_delta").put("partial_json", input.toString()));
        input.setLength(0);
    }

    @Override
    public void callDropped(int index) {
        input.setLength(0);
    }

    @Override
    public void ends(Ending end) {
        ending = end;
    }

    private void begin() {
        if (!begun) {
            begun = true;
            ObjectNode start = message.deepCopy();
            start.putArray("content");
            start.putNull("stop_reason").putNull("stop_sequence");
            start.set("usage", MessagesEndpoint.usage(new Replies.Counts(prompt, prompt - listener.promptRun(), 0)));
            send("message_start", Json.object().set("message", start));
        }
    }

    /// Ends the block of another kind, and begins one of this.
    private void open(String wanted, ObjectNode content) {
        begin();
        if (!kind.equals(wanted)) {
            close();
            kind = wanted;
            block++;
            send("content_block_start", Json.object().put("index", block).set("content_block", content));
        }
    }

    private void close() {
        if (!kind.isEmpty()) {
            kind = "";
            send("content_block_stop", Json.object().put("index", block));
        }
    }

    private void delta(ObjectNode delta) {
        send("content_block_delta", Json.object().put("index", block).set("delta", delta));
    }

    /// Ends the message.
    ///
    /// @param usage its counts
    void finish(ObjectNode usage) {
        begin();
        close();
        ObjectNode end = Json.object();
        end.putObject("delta").put("stop_reason", MessageReply.reason(ending)).put("stop_sequence", ending.stopText());
        end.set("usage", usage);
        send("message_delta", end);
        send("message_stop", Json.object());
    }

    private void send(String type, ObjectNode data) {
        ObjectNode event = Json.object().put("type", type);
        event.setAll(data);
        events.accept(type, event);
    }
}
