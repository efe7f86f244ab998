package dev.tenon.platform.server.anthropic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.Usage;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.generation.ChoiceOutput;
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
}
