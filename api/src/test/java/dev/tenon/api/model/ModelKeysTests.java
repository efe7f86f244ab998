package dev.tenon.api.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.blocks.ExpertShape;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class ModelKeysTests {
    private final Map<String, GgufValue> metadata =
            new LinkedHashMap<>(Map.of("general.architecture", GgufValue.of("a")));

    private ModelKeys keys() {
        return ModelKeys.of(new ModelSource(GgufMetadata.of("f.gguf", metadata), Map.of()));
    }

    private static void refused(String code, String part, Executable call) {
        ModelFormatException e = assertThrows(ModelFormatException.class, call);
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void numbersHaveRangesAndDefaults() {
        metadata.put("a.n", GgufValue.ofUint32(7));
        metadata.put("a.nan", GgufValue.of(Float.NaN));
        assertEquals(7, keys().integer("n", 1, 7));
        assertEquals(3, keys().integerOr("m", 3, 4, 5));
        assertEquals(7f, keys().number("n", 0, 7));
        refused(ErrorCode.MODEL_KEY_VALUE, "a.n in f.gguf is 7; expected 1 to 6", () -> keys().integer("n", 1, 6));
        refused(ErrorCode.MODEL_KEY_VALUE, "a.nan", () -> keys().numberOr("nan", 1, -1, 1));
        refused(ErrorCode.MODEL_KEY_MISSING, "a.m", () -> keys().number("m", 0, 1));
    }

    @Test
    void aKeyOfLayersIsOneNumberOrOneForEach() {
        metadata.put("a.one", GgufValue.ofUint32(2));
        metadata.put("a.each", GgufValue.ofInt32Array(new long[] {0, 4, 8}));
        metadata.put("a.words", GgufValue.of(new String[] {"x"}));
        assertArrayEquals(new int[] {2, 2, 2}, keys().perLayer("one", 3, 0, 9));
        assertArrayEquals(new int[] {0, 4}, keys().perLayer("each", 2, 0, 9), "a draft block has a number, too");
        refused(ErrorCode.MODEL_KEY_VALUE, "is 3 numbers", () -> keys().perLayer("each", 4, 0, 9));
        refused(ErrorCode.MODEL_KEY_VALUE, "is 8 for layer 2", () -> keys().perLayer("each", 3, 0, 7));
        refused(ErrorCode.MODEL_KEY_VALUE, "array of STRING", () -> keys().perLayer("words", 1, 0, 7));
    }

    @Test
    void aTruthValueForEachLayerIsAnArrayOfThem() {
        metadata.put("a.window", new GgufValue(GgufType.ARRAY, GgufType.BOOL, new boolean[] {true, false, true}));
        assertArrayEquals(new boolean[] {true, false}, keys().flagPerLayer("window", 2));
        refused(ErrorCode.MODEL_KEY_VALUE, "is 3 truth values", () -> keys().flagPerLayer("window", 4));
        metadata.put("a.numbers", GgufValue.ofInt32Array(new long[] {1, 0, 2}));
        assertArrayEquals(new boolean[] {true, false}, keys().flagPerLayer("numbers", 2));
        refused(ErrorCode.MODEL_KEY_VALUE, "is 2 for layer 2", () -> keys().flagPerLayer("numbers", 3));
        metadata.put("a.words", GgufValue.of(new String[] {"x"}));
        refused(ErrorCode.MODEL_KEY_VALUE, "an array of booleans", () -> keys().flagPerLayer("words", 1));
        refused(ErrorCode.MODEL_KEY_MISSING, "a.nothing", () -> keys().flagPerLayer("nothing", 1));
    }

    @Test
    void expertsAreReadWithWhatTheArchitectureFixes() {
        metadata.put("a.expert_count", GgufValue.ofUint32(8));
        metadata.put("a.expert_used_count", GgufValue.ofUint32(4));
        metadata.put("a.feed_forward_length", GgufValue.ofUint32(32));
        ExpertShape plain = ExpertShape.read(keys(), "feed_forward_length", Gating.SOFTMAX, true);
        assertEquals(new ExpertShape(8, 4, 32, Gating.SOFTMAX, true, 1, 1, 1), plain);
        metadata.put("a.expert_gating_func", GgufValue.ofUint32(2));
        metadata.put("a.expert_weights_norm", GgufValue.of(false));
        metadata.put("a.expert_weights_scale", GgufValue.of(2.5f));
        metadata.put("a.expert_group_count", GgufValue.ofUint32(4));
        metadata.put("a.expert_group_used_count", GgufValue.ofUint32(2));
        ExpertShape grouped = ExpertShape.read(keys(), "feed_forward_length", Gating.SOFTMAX, true);
        assertEquals(new ExpertShape(8, 4, 32, Gating.SIGMOID, false, 2.5f, 4, 2), grouped);
        assertEquals(2, grouped.router().build().groupsUsed());
        metadata.put("a.expert_gating_func", GgufValue.ofUint32(3));
        ExpertShape chosenOnly = ExpertShape.read(keys(), "feed_forward_length", Gating.SIGMOID, false);
        assertEquals(new ExpertShape(8, 4, 32, Gating.SOFTMAX, true, 2.5f, 4, 2), chosenOnly);
        metadata.put("a.expert_gating_func", GgufValue.ofUint32(5));
        assertThrows(
                UnsupportedModelException.class,
                () -> ExpertShape.read(keys(), "feed_forward_length", Gating.SIGMOID, false));
        metadata.remove("a.expert_gating_func");
        metadata.put("a.expert_used_count", GgufValue.ofUint32(5));
        refused(
                ErrorCode.MODEL_KEY_VALUE,
                "a.expert_used_count in f.gguf is 5; expected 1 to 4",
                () -> ExpertShape.read(keys(), "feed_forward_length", Gating.SOFTMAX, true));
        metadata.put("a.expert_group_count", GgufValue.ofUint32(3));
        refused(
                ErrorCode.MODEL_KEY_VALUE,
                "a divisor of 8 experts",
                () -> ExpertShape.read(keys(), "feed_forward_length", Gating.SOFTMAX, true));
    }

    /// A file has one of the two, so nobody knows which one was left out.
    @Test
    void aMissingEpsilonIsNamedByBothItsKeys() {
        for (String key : List.of("block_count", "context_length", "feed_forward_length", "attention.head_count")) {
            metadata.put("a." + key, GgufValue.ofUint32(4));
        }
        metadata.put("a.embedding_length", GgufValue.ofUint32(32));
        TensorInfo table = new TensorInfo("token_embd.weight", 0, List.of(32L, 8L), 0, 0, 1024);
        ModelSource source = new ModelSource(GgufMetadata.of("f.gguf", metadata), Map.of("token_embd.weight", table));
        for (String key : List.of("a.attention.layer_norm_rms_epsilon", "a.attention.layer_norm_epsilon")) {
            refused(ErrorCode.MODEL_KEY_MISSING, key, () -> ModelConfig.readShape(source, 10_000));
        }
    }
}
