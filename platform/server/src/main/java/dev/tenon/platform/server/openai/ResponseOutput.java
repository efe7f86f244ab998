package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatEnd;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.ChoiceOutput;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.http.EventStream;

/// The reply of responses: its items, and, in a stream, the events that tell how they grow. Items come one after the
/// other: reasoning, a message, calls.
final class ResponseOutput implements ChoiceOutput {
    private final ObjectNode response;
    private final EventStream events;
    private final ArrayNode items = Json.array();
    private final StringBuilder text = new StringBuilder();
    private ObjectNode item;
    private int number;
    private Ending ending;

    /// @param response the answer, without items
    /// @param events the stream, or null
    ResponseOutput(ObjectNode response, EventStream events) {
        this.response = response;
        this.events = events;
    }

    /// Tells that the response exists.
    void begin() {
        send("response.created", Json.object().set("response", snapshot("in_progress")));
        send("response.in_progress", Json.object().set("response", snapshot("in_progress")));
    }

    @Override
    public void reasoning(String part) {
        open("reasoning", Json.object().put("id", Wire.id("rs_")).put("type", "reasoning"));
        text.append(part);
        send("response.reasoning_text.delta", at().put("content_index", 0).put("delta", part));
    }

    @Override
    public void text(String part) {
        open(
                "message",
                Json.object().put("id", Wire.id("msg_")).put("type", "message").put("role", "assistant"));
        text.append(part);
        ObjectNode delta = at().put("content_index", 0).put("delta", part);
        delta.putArray("logprobs");
        send("response.output_text.delta", delta);
    }

    @Override
    public void callBegins(int index, String id, String name) {
        close();
        open(
                "function_call",
                Json.object()
                        .put("id", Wire.id("fc_"))
                        .put("type", "function_call")
                        .put("call_id", id)
                        .put("name", name)
                        .put("arguments", ""));
    }

    @Override
    public void callArguments(int index, String json) {
        text.append(json);
        send("response.function_call_arguments.delta", at().put("delta", json));
    }

    @Override
    public void callDropped(int index) {
        if (events == null) {
            item = null;
            text.setLength(0);
        } else {
            close("incomplete");
        }
    }

    @Override
    public void ends(Ending end) {
        close();
        ending = end;
    }

    private ObjectNode at() {
        return Json.object().put("item_id", item.get("id").asText()).put("output_index", items.size());
    }

    private void open(String type, ObjectNode fresh) {
        if (item != null && item.get("type").asText().equals(type)) {
            return;
        }
        close();
        item = fresh.put("status", "in_progress");
        ObjectNode added = item.deepCopy();
        if (!type.equals("function_call")) {
            added.putArray("content");
        }
        if (type.equals("reasoning")) {
            added.putArray("summary");
        }
        send(
                "response.output_item.added",
                Json.object().put("output_index", items.size()).set("item", added));
        if (type.equals("message")) {
            send("response.content_part.added", at().put("content_index", 0).set("part", part("")));
        }
    }

    private static ObjectNode part(String text) {
        ObjectNode part = Json.object().put("type", "output_text").put("text", text);
        part.putArray("annotations");
        part.putArray("logprobs");
        return part;
    }

    private void close() {
        close("completed");
    }

    private void close(String status) {
        if (item == null) {
            return;
        }
        String whole = text.toString();
        item.put("status", status);
        switch (item.get("type").asText()) {
            case "message" -> {
                ObjectNode done = at().put("content_index", 0).put("text", whole);
                done.putArray("logprobs");
                send("response.output_text.done", done);
                send("response.content_part.done", at().put("content_index", 0).set("part", part(whole)));
                item.putArray("content").add(part(whole));
            }
            case "reasoning" -> {
                send(
                        "response.reasoning_text.done",
                        at().put("content_index", 0).put("text", whole));
                item.putArray("summary");
                item.putArray("content")
                        .addObject()
                        .put("type", "reasoning_text")
                        .put("text", whole);
            }
            default -> {
                item.put("arguments", whole);
                send(
                        "response.function_call_arguments.done",
                        at().put("name", item.get("name").asText()).put("arguments", whole));
            }
        }
        send(
                "response.output_item.done",
                Json.object().put("output_index", items.size()).set("item", item));
        items.add(item);
        item = null;
        text.setLength(0);
    }

    /// {@return the whole answer, which a stream ends with}
    ///
    /// @param counts its counts
    ObjectNode finish(Replies.Counts counts) {
        boolean cut = ending.reason() == ChatEnd.LENGTH;
        ObjectNode whole = snapshot(cut ? "incomplete" : "completed");
        if (cut) {
            whole.putObject("incomplete_details").put("reason", "max_output_tokens");
        }
        ObjectNode usage = whole.putObject("usage")
                .put("input_tokens", counts.prompt())
                .put("output_tokens", counts.generated())
                .put("total_tokens", counts.prompt() + counts.generated());
        usage.putObject("input_tokens_details").put("cached_tokens", counts.cached());
        usage.putObject("output_tokens_details").put("reasoning_tokens", 0);
        send(cut ? "response.incomplete" : "response.completed", Json.object().set("response", whole));
        return whole;
    }

    private ObjectNode snapshot(String status) {
        ObjectNode copy = response.deepCopy().put("status", status);
        copy.putNull("error").putNull("incomplete_details");
        copy.set("output", items.deepCopy());
        return copy;
    }

    private void send(String type, ObjectNode data) {
        if (events != null) {
            ObjectNode event = Json.object().put("type", type).put("sequence_number", number++);
            event.setAll(data);
            events.send(type, event);
        }
    }
}
