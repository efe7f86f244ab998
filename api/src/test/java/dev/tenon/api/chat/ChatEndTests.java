package dev.tenon.api.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.engine.FinishReason;
import org.junit.jupiter.api.Test;

class ChatEndTests {
    /// A client that reads `tool_calls` may take the calls for all there are.
    @Test
    void aReplyThatIsCutEndsByItsLengthWhateverWasCalledBefore() {
        assertEquals(ChatEnd.LENGTH, ChatEnd.of(FinishReason.LENGTH, 1));
        assertEquals(ChatEnd.LENGTH, ChatEnd.of(FinishReason.LENGTH, 0));
        assertEquals(ChatEnd.CALLS, ChatEnd.of(FinishReason.STOP, 1));
        assertEquals(ChatEnd.STOP, ChatEnd.of(FinishReason.STOP, 0));
    }
}
