package dev.tenon.api.model.blocks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RopeKeysTests {
    private final Map<String, GgufValue> metadata =
            new LinkedHashMap<>(Map.of("general.architecture", GgufValue.of("a")));
    private final Map<String, TensorInfo> tensors = new LinkedHashMap<>();
    private int context;

    private RopeParams rope() {
        ModelConfig config = ModelConfig.builder("a")
                .headCount(1)
                .keyLength(64)
                .ropeDim(32)
                .contextLength(8192)
                .build();
        ModelSource source = new ModelSource(GgufMetadata.of("f.gguf", metadata), tensors, context);
        return RopeKeys.read(ModelKeys.of(source), config, Pairing.HALF_SPLIT).build();
    }

    private void scaling(String key, Object value) {
        metadata.put(
                "a.rope.scaling." + key,
                switch (value) {
                    case String text -> GgufValue.of(text);
                    case Integer number -> GgufValue.ofUint32(number);
                    default -> GgufValue.of((Float) value);
                });
    }

    private void tensor(String name) {
        tensors.put(name, new TensorInfo(name, 0, List.of(16L), 0, 0, 64));
    }

    private void refused(String code, String part) {
        TenonException e = assertThrows(TenonException.class, this::rope);
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void withoutKeysNothingIsScaled() {
        assertEquals(
                RopeParams.builder(64, Pairing.HALF_SPLIT, 10_000).ropeDim(32).build(), rope());
        tensor("rope_freqs.weight");
        assertEquals(Optional.of(Weight.vector("rope_freqs.weight", 16)), rope().freqFactors());
    }

    @Test
    void linearScalingDividesFrequencies() {
        scaling("type", "linear");
        refused(ErrorCode.MODEL_KEY_MISSING, "rope.scaling.factor");
        scaling("factor", 8f);
        assertEquals(0.125f, rope().freqScale());
        metadata.remove("a.rope.scaling.type");
        assertEquals(0.125f, rope().freqScale(), "a factor alone is linear");
        scaling("type", "none");
        assertEquals(1, rope().freqScale());
    }

    @Test
    void yarnHasTheMagnitudeOfItsPaperUnlessTheFileSaysOtherwise() {
        scaling("type", "yarn");
        scaling("factor", 8f);
        refused(ErrorCode.MODEL_KEY_MISSING, "original_context_length");
        scaling("original_context_length", 4096);
        assertEquals(Optional.of(new Yarn(8, 4096, 32, 1)), rope().yarn());
        assertEquals(1 + 0.1 * Math.log(8), rope().attentionFactor(), 1e-7);
        scaling("yarn_log_multiplier", 1f);
        assertEquals(1, rope().attentionFactor());
        scaling("attn_factor", 1.25f);
        assertEquals(1.25f, rope().attentionFactor());
        scaling("yarn_beta_fast", 8f);
        scaling("yarn_beta_slow", 2f);
        assertEquals(Optional.of(new Yarn(8, 4096, 8, 2)), rope().yarn());
        scaling("yarn_beta_slow", 8f);
        refused(ErrorCode.MODEL_KEY_VALUE, "yarn_beta_slow");
    }

    @Test
    void longRopeTakesTheFactorsOfTheContextThatIsAskedFor() {
        tensor("rope_factors_long.weight");
        tensor("rope_factors_short.weight");
        refused(ErrorCode.MODEL_KEY_MISSING, "original_context_length");
        scaling("original_context_length", 4096);
        scaling("attn_factor", 1.19f);
        assertEquals(
                "rope_factors_long.weight", rope().freqFactors().orElseThrow().name(), "the file says 8192");
        context = 4096;
        assertEquals(
                "rope_factors_short.weight", rope().freqFactors().orElseThrow().name());
        context = 4097;
        assertEquals(
                "rope_factors_long.weight", rope().freqFactors().orElseThrow().name());
        assertEquals(1.19f, rope().attentionFactor());
        scaling("type", "longrope");
        assertEquals(
                Weight.vector("rope_factors_long.weight", 16),
                rope().freqFactors().orElseThrow());
    }

    @Test
    void anotherScalingIsRefused() {
        scaling("type", "su");
        refused(ErrorCode.MODEL_ARCHITECTURE, "rope.scaling.type");
    }
}
