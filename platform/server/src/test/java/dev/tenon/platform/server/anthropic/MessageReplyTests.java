package dev.tenon.platform.server.anthropic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.ChoiceOutput;
import dev.tenon.platform.server.generation.ReplyListener;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Replies with calls, which the model of the other tests does not make.
class MessageReplyTests {
    private static final Usage USAGE = new Usage(5, 2, 9, 1_000_000, 2_000_000, FinishReason.STOP);

    @Test
    void onlyCallsThatAreWholeHaveAnInput() {
        MessageReply reply = new MessageReply();
        reply.callBegins(0, "call_1", "time");
        reply.callArguments(0, "{\"zone\": ");
        reply.callDropped(0);
        reply.text("time zone");
        reply.callBegins(1, "call_2", "time");
        reply.callArguments(1, "{\"zone\": \"U");
        reply.callArguments(1, "TC\"}");
        reply.ends(new ChoiceOutput.Ending(USAGE, ChatEnd.CALLS, null));
        ObjectNode message = Json.object();
        reply.into(message);
        assertEquals(2, message.get("content").size());
        assertEquals("time zone", message.at("/content/0/text").asText());
        assertEquals("call_2", message.at("/content/1/id").asText());
        assertEquals("{\"zone\":\"UTC\"}", message.at("/content/1/input").toString());
        assertEquals("tool_use", message.get("stop_reason").asText());
    }

    @Test
    void aStreamHasOnlyCallsThatAreWhole() {
        List<ObjectNode> sent = new ArrayList<>();
        MessageEvents events = new MessageEvents(Json.object(), (type, event) -> sent.add(event), 7);
        Tokenizer none = (Tokenizer) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Tokenizer.class}, (proxy, method, args) -> null);
        events.begins(new ReplyListener(none, text -> {}, false, nanos -> {}));
        events.callBegins(0, "call_1", "time");
        events.callArguments(0, "{\"zone\": ");
        events.callDropped(0);
        events.text("time zone");
        for (int index = 1; index < 3; index++) {
            events.callBegins(index, "call_" + (index + 1), "time");
            events.callArguments(index, "{\"zone\": \"U");
            events.callArguments(index, "TC\"}");
            assertEquals(3 * index, sent.size(), "nothing of a call before its end");
            events.callEnds(index);
        }
        events.ends(new ChoiceOutput.Ending(USAGE, ChatEnd.CALLS, null));
        events.finish(Json.object());
        assertEquals(
                List.of("text", "tool_use", "tool_use"),
                sent.stream()
                        .filter(each -> each.has("content_block"))
                        .map(each -> each.at("/content_block/type").asText())
                        .toList());
        assertEquals(
                List.of("{\"zone\": \"UTC\"}", "{\"zone\": \"UTC\"}"),
                sent.stream()
                        .filter(each -> each.at("/delta/partial_json").isTextual())
                        .map(each -> each.at("/delta/partial_json").asText())
                        .toList());
    }
}
