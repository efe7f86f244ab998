package dev.tenon.models.llama;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RopeParams.Yarn;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What is this architecture's own; [LlamaContractTests] shows that it keeps the contract of all.
class LlamaArchitectureTests {
    private final Map<String, GgufValue> metadata = new LinkedHashMap<>(Map.of(
            "general.architecture", GgufValue.of("llama"),
            "llama.block_count", GgufValue.ofUint32(2),
            "llama.context_length", GgufValue.ofUint32(128),
            "llama.embedding_length", GgufValue.ofUint32(32),
            "llama.feed_forward_length", GgufValue.ofUint32(48),
            "llama.attention.head_count", GgufValue.ofUint32(4),
            "llama.attention.head_count_kv", GgufValue.ofUint32(2),
            "llama.attention.layer_norm_rms_epsilon", GgufValue.of(1e-5f)));
    private final Map<String, TensorInfo> tensors = new LinkedHashMap<>();

    LlamaArchitectureTests() {
        tensor("token_embd.weight", 32, 67);
        tensor("output.weight", 32, 67);
    }

    private void tensor(String name, long... shape) {
        List<Long> dimensions = Arrays.stream(shape).boxed().toList();
        long bytes = 4 * dimensions.stream().reduce(1L, Math::multiplyExact);
        tensors.put(name, new TensorInfo(name, 0, dimensions, 0, 0, bytes));
    }

    private ModelSource source() {
        return new ModelSource(GgufMetadata.of("tiny.gguf", metadata), tensors);
    }

    private ModelConfig config() {
        return new LlamaArchitecture().define(source()).config();
    }

    private Graph graph() {
        return new LlamaArchitecture().define(source()).graph();
    }

    private static <T extends Op> List<T> ops(Graph graph, Class<T> type) {
        return graph.ops().stream().filter(type::isInstance).map(type::cast).toList();
    }

    private void refused(String key, GgufValue value, String code) {
        metadata.put(key, value);
        TenonException e = assertThrows(TenonException.class, this::config);
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(key), e.getMessage());
    }

    @Test
    void whatTheFileDoesNotSayFollowsFromTheRest() {
        ModelConfig config = config();
        assertEquals("llama", config.name());
        assertEquals(8, config.keyLength());
        assertEquals(8, config.ropeDim());
        assertEquals(10000, config.ropeFreqBase());
        assertEquals(67, config.vocabularySize());
    }

    @Test
    void aMixtureOfExpertsAndUnknownScalingsOfTheRopeAreRefused() {
        refused("llama.rope.scaling.type", GgufValue.of("other"), ErrorCode.MODEL_ARCHITECTURE);
        metadata.remove("llama.rope.scaling.type");
        refused("llama.expert_count", GgufValue.ofUint32(8), ErrorCode.MODEL_ARCHITECTURE);
        assertThrows(UnsupportedModelException.class, this::config);
        ModelConfig read = ModelConfig.readShape(source(), 10000);
        metadata.remove("llama.expert_count");
        assertEquals(config(), read, "what an architecture with experts reads");
    }

    @Test
    void headsThatDoNotDivideAreRefused() {
        refused("llama.attention.head_count", GgufValue.ofUint32(5), ErrorCode.MODEL_KEY_VALUE);
    }

    @Test
    void neighboursAreRotatedByTheFactorsOfTheFile() {
        List<CoreOp.Rope> ropes = ops(graph(), CoreOp.Rope.class);
        assertEquals(4, ropes.size(), "queries and keys of two layers");
        ropes.forEach(rope -> assertEquals(Pairing.INTERLEAVED, rope.params().pairing()));
        assertTrue(ropes.stream().allMatch(rope -> rope.params().freqFactors().isEmpty()));
        tensor("rope_freqs.weight", 4);
        assertTrue(ops(graph(), CoreOp.Rope.class).stream()
                .allMatch(rope -> rope.params().freqFactors().orElseThrow().cols() == 4));
    }

    @Test
    void theRotationIsScaledAsTheFileSays() {
        metadata.put("llama.rope.scaling.type", GgufValue.of("yarn"));
        metadata.put("llama.rope.scaling.factor", GgufValue.of(16f));
        metadata.put("llama.rope.scaling.original_context_length", GgufValue.ofUint32(64));
        Yarn yarn = new Yarn(16, 64, 32, 1);
        assertTrue(ops(graph(), CoreOp.Rope.class).stream()
                .allMatch(rope -> rope.params().yarn().equals(Optional.of(yarn))));
    }

    @Test
    void biasesAreUsedWhereTheFileHasThem() {
        tensor("blk.1.attn_q.bias", 32);
        List<String> biased = ops(graph(), CoreOp.Linear.class).stream()
                .filter(linear -> linear.bias().isPresent())
                .map(linear -> linear.weight().name())
                .toList();
        assertEquals(List.of("blk.1.attn_q.weight"), biased);
    }

    @Test
    void withoutAnOutputMatrixTheEmbeddingServes() {
        assertEquals(
                "output.weight",
                ops(graph(), CoreOp.Linear.class).getLast().weight().name());
        tensors.remove("output.weight");
        assertEquals(
                "token_embd.weight",
                ops(graph(), CoreOp.Linear.class).getLast().weight().name());
    }

    @Test
    void aLayerIsFiveFusedOps() {
        // The embedding, the rows that want logits, their norm and the output matrix are beside the layers.
        assertEquals(2 * 5 + 4, Fusion.fuse(graph()).ops().size());
    }

    @Test
    void ernieIsLlamaByAnotherName() {
        assertEquals(
                GraphListing.of(new TinySource("llama").graph(new LlamaArchitecture())),
                GraphListing.of(new TinySource("ernie4_5").graph(new Ernie45Architecture())));
    }
}
