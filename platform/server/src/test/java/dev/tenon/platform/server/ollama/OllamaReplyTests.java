package dev.tenon.platform.server.ollama;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.Usage;
import dev.tenon.platform.server.generation.ChoiceOutput;
import dev.tenon.platform.server.generation.Replies;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Replies with reasoning and calls, which the model of the other tests does not make.
class OllamaReplyTests {
    private static final Usage USAGE = new Usage(5, 2, 9, 1_000_000, 2_000_000, FinishReason.STOP);

    private static List<ObjectNode> reply(boolean stream) {
        List<ObjectNode> sent = new ArrayList<>();
        OllamaReply reply = new OllamaReply("m", true, stream, false, sent::add);
        reply.loaded();
        reply.reasoning("Hm.");
        reply.callBegins(0, "call_1", "time");
        reply.callArguments(0, "{\"zone\":");
        reply.callArguments(0, "\"UTC\"}");
        reply.callBegins(1, "call_2", "time");
        reply.callArguments(1, "{\"zone");
        reply.callDropped(1);
        reply.callBegins(2, "call_3", "stop");
        reply.callArguments(2, "{}");
        reply.ends(new ChoiceOutput.Ending(USAGE, ChatEnd.CALLS, null));
        reply.finish(new Replies.Counts(7, 2, 9), null);
        return sent;
    }

    private static void assertCalls(JsonNode calls) {
        assertEquals(2, calls.size());
        assertEquals("time", calls.at("/0/function/name").asText());
        assertEquals("UTC", calls.at("/0/function/arguments/zone").asText());
        assertEquals(1, calls.at("/1/function/index").asInt());
        assertTrue(calls.at("/1/function/arguments").isObject());
    }

    @Test
    void callsComeWholeInOneLine() {
        List<ObjectNode> lines = reply(true);
        assertEquals(3, lines.size());
        assertEquals("Hm.", lines.get(0).at("/message/thinking").asText());
        assertEquals("", lines.get(0).at("/message/content").asText());
        assertCalls(lines.get(1).at("/message/tool_calls"));
        assertTrue(lines.get(2).at("/message/tool_calls").isMissingNode());
        assertEquals("stop", lines.get(2).get("done_reason").asText());
        assertEquals(7, lines.get(2).get("prompt_eval_count").asInt());
        assertEquals(2_000_000, lines.get(2).get("eval_duration").asLong());
    }

    @Test
    void withoutAStreamAllIsInOneObject() {
        ObjectNode whole = reply(false).getFirst();
        assertEquals("Hm.", whole.at("/message/thinking").asText());
        assertCalls(whole.at("/message/tool_calls"));
        assertTrue(whole.get("done").asBoolean());
    }
}
