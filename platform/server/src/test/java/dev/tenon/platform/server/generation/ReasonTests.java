package dev.tenon.platform.server.generation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.engine.FinishReason;
import org.junit.jupiter.api.Test;

class ReasonTests {
    /// A client that reads `tool_calls` may take the calls for all there are.
    @Test
    void aReplyThatIsCutEndsByItsLengthWhateverWasCalledBefore() {
        assertEquals(ChoiceOutput.Reason.LENGTH, ChoiceOutput.Reason.of(FinishReason.LENGTH, 1));
        assertEquals(ChoiceOutput.Reason.LENGTH, ChoiceOutput.Reason.of(FinishReason.LENGTH, 0));
        assertEquals(ChoiceOutput.Reason.CALLS, ChoiceOutput.Reason.of(FinishReason.STOP, 1));
        assertEquals(ChoiceOutput.Reason.STOP, ChoiceOutput.Reason.of(FinishReason.STOP, 0));
    }
}
