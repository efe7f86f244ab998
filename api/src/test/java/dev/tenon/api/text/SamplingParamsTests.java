package dev.tenon.api.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SamplingParamsTests {
    private static SamplingParams.Builder builder() {
        return SamplingParams.builder();
    }

    static Stream<SamplingParams.Builder> wrong() {
        return Stream.of(
                builder().temperature(-1),
                builder().temperature(Float.NaN),
                builder().topK(-1),
                builder().topP(0),
                builder().topP(1.1f),
                builder().minP(-0.1f),
                builder().minP(1.1f),
                builder().typicalP(0),
                builder().repeatPenalty(0),
                builder().presencePenalty(Float.POSITIVE_INFINITY),
                builder().frequencyPenalty(Float.NaN),
                builder().repeatLastN(-2),
                builder().logitBias(Map.of(-1, 1f)),
                builder().logitBias(Map.of(1, Float.NaN)));
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void numbersOutOfRangeAreRefused(SamplingParams.Builder builder) {
        assertThrows(IllegalArgumentException.class, builder::build);
    }

    @Test
    void aBuilderStartsWithAllValues() {
        Map<Integer, Float> bias = new HashMap<>(Map.of(3, Float.NEGATIVE_INFINITY));
        SamplingParams all = builder()
                .temperature(0.5f)
                .topK(1)
                .topP(0.5f)
                .minP(0.1f)
                .typicalP(0.9f)
                .repeatPenalty(1.1f)
                .presencePenalty(0.1f)
                .frequencyPenalty(0.2f)
                .repeatLastN(-1)
                .logitBias(bias)
                .seed(7)
                .build();
        bias.clear();
        assertEquals(Map.of(3, Float.NEGATIVE_INFINITY), all.logitBias());
        assertEquals(all, all.toBuilder().build());
        assertNotEquals(all, all.toBuilder().seed(8).build());
        assertNotEquals(SamplingParams.greedy(), SamplingParams.defaults());
    }

    @Test
    void aDeviceSamplesWithWhatTheLogitsAloneDecide() {
        assertTrue(SamplingParams.defaults().logitsOnly());
        assertTrue(builder().repeatPenalty(2).repeatLastN(0).build().logitsOnly());
        assertEquals(0, TokenSampling.GREEDY.params().temperature());
        for (SamplingParams more : List.of(
                builder().typicalP(0.9f).build(),
                builder().repeatPenalty(1.1f).build(),
                builder().presencePenalty(0.1f).build(),
                builder().frequencyPenalty(0.1f).build(),
                builder().logitBias(Map.of(1, 1f)).build())) {
            assertFalse(more.logitsOnly());
            assertThrows(IllegalArgumentException.class, () -> new TokenSampling(more, 0));
        }
    }
}
