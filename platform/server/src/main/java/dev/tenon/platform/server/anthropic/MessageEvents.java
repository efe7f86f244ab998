package dev.tenon.platform.server.anthropic;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.ChoiceOutput;
import dev.tenon.platform.server.http.EventStream;

/// The reply of a stream: a message whose blocks begin, grow and end one after the other.
final class MessageEvents implements ChoiceOutput {
    private final ObjectNode message;
    private final EventStream events;
    private boolean begun;
    private int block = -1;
    private String kind = "";
    private Ending ending;

    MessageEvents(ObjectNode message, EventStream events) {
        this.message = message;
        this.events = events;
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
        ObjectNode call = Json.object().put("type", "tool_use").put("id", id).put("name", name);
        call.putObject("input");
        open("call " + index, call);
    }

    @Override
    public void callArguments(int index, String json) {
        delta(Json.object().put("type", "input_json_delta").put("partial_json", json));
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
            start.putObject("usage").put("input_tokens", 0).put("output_tokens", 0);
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
        events.send(type, event);
    }
}
