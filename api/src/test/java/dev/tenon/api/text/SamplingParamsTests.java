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
                builder().topNSigma(-1),
                builder().stages(List.of(SamplingStage.XTC, SamplingStage.XTC)),
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
                .topNSigma(1)
                .dynamicTemperature(new DynamicTemperature(0.1f, 2))
                .dry(new Dry(1, 2, 3, 4, List.of(List.of(5))))
                .xtc(new Xtc(0.5f, 0.2f))
                .mirostat(new Mirostat(2, 3, 0.2f))
                .stages(List.of(SamplingStage.values()).reversed())
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
                builder().topNSigma(1).build(),
                builder().dynamicTemperature(new DynamicTemperature(0.1f, 1)).build(),
                builder().dry(new Dry(1, 2, 3, -1, List.of())).build(),
                builder().xtc(new Xtc(0.5f, 0.1f)).build(),
                builder().mirostat(new Mirostat(1, 5, 0.1f)).build(),
                builder()
                        .stages(List.of(SamplingStage.TEMPERATURE, SamplingStage.TOP_K))
                        .build(),
                builder().logitBias(Map.of(1, 1f)).build())) {
            assertFalse(more.logitsOnly(), more::toString);
            assertThrows(IllegalArgumentException.class, () -> new TokenSampling(more, 0));
        }
    }

    @Test
    void onlyStepsThatChangeSomethingAreActive() {
        SamplingParams plain = SamplingParams.defaults();
        assertEquals(
                List.of(SamplingStage.TOP_K, SamplingStage.TOP_P, SamplingStage.MIN_P, SamplingStage.TEMPERATURE),
                plain.activeStages());
        assertEquals(
                List.of(SamplingStage.TEMPERATURE),
                plain.toBuilder().temperature(0).build().activeStages());
        SamplingParams steered = plain.toBuilder()
                .mirostat(new Mirostat(2, 5, 0.1f))
                .repeatPenalty(2)
                .build();
        assertEquals(List.of(SamplingStage.PENALTIES, SamplingStage.TEMPERATURE), steered.activeStages());
        SamplingParams few = plain.toBuilder()
                .stages(List.of(SamplingStage.MIN_P, SamplingStage.TOP_K))
                .build();
        assertEquals(List.of(SamplingStage.MIN_P, SamplingStage.TOP_K), few.activeStages());
        assertEquals(1, few.temperature());
        assertEquals(1, few.topP());
        assertEquals(40, few.topK());
        assertTrue(plain.toBuilder()
                .stages(List.of(SamplingStage.TOP_K, SamplingStage.DRY, SamplingStage.TEMPERATURE))
                .build()
                .logitsOnly());
    }

    @Test
    void stepsAreNamedByNamesOrLetters() {
        List<SamplingStage> all = List.of(SamplingStage.values());
        assertEquals(all, SamplingStage.of(List.of("edskypmxt")));
        assertEquals(
                all,
                SamplingStage.of(List.of("penalties;dry;top_n_sigma; top_k", "typ_p;top_p;min_p;xtc", "temperature")));
        assertEquals(List.of(), SamplingStage.of(List.of()));
        for (String wrong : List.of("top_q", "top_k;top_k", "kk", "z")) {
            assertThrows(IllegalArgumentException.class, () -> SamplingStage.of(List.of(wrong)), wrong);
        }
    }
}
