package dev.tenon.langchain4j;

import org.junit.jupiter.api.Tag;

/// The tests of streaming models with the one that cancels, and then waits half a minute for nothing to come: too long
/// for the first ring, where `TenonModelsTests` cancels without waiting.
@Tag("long")
class StreamingCancellationTests extends TenonStreamingChatModelTests {
    @Override
    protected boolean supportsStreamingCancellation() {
        return true;
    }
}
