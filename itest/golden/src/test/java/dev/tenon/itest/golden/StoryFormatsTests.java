package dev.tenon.itest.golden;

import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The trained models in the other formats, which the larger set has, give the reference's texts and perplexities.
///
/// Long: each perplexity is 40,000 tokens.
@Tag("long")
class StoryFormatsTests extends StoryModels {
    @ParameterizedTest
    @CsvSource({"qwen3,q8_0", "llama,f16"})
    void theGreedyTextIsEqual(String architecture, String format) {
        greedyTextIsEqualUpToTheFirstNearTie(architecture, format);
    }

    @ParameterizedTest
    @CsvSource({"qwen3,q8_0", "llama,q6_k", "llama,f16"})
    void everyGreedyTokenIsTheBest(String architecture, String format) {
        everyGreedyTokenIsTheBestOneOrNearlySo(architecture, format);
    }

    @ParameterizedTest
    @CsvSource({"qwen3,q8_0", "llama,q4_k_m", "llama,q6_k", "llama,q8_0", "llama,f16"})
    void thePerplexityIsTheReferences(String architecture, String format) throws IOException {
        perplexityOnHeldOutTextIsWithinHalfAPercent(architecture, format);
    }
}
