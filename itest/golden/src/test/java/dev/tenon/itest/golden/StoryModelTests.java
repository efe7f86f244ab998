package dev.tenon.itest.golden;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/// The embedded model gives the reference's text and perplexity.
class StoryModelTests extends StoryModels {
    @Test
    void everyGreedyTokenIsTheBestOneOrNearlySo() {
        everyGreedyTokenIsTheBestOneOrNearlySo("qwen3", "q4_k_m");
    }

    @Test
    void perplexityOnHeldOutTextIsWithinHalfAPercent() throws IOException {
        perplexityOnHeldOutTextIsWithinHalfAPercent("qwen3", "q4_k_m");
    }
}
