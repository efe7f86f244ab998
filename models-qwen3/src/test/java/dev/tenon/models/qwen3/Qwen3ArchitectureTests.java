package dev.tenon.models.qwen3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What is this architecture's own; that it keeps the contract of all, a test of the finished jar shows.
class Qwen3ArchitectureTests {
    private final Map<String, GgufValue> metadata = new LinkedHashMap<>(Map.of(
            "general.architecture", GgufValue.of("qwen3"),
            "qwen3.block_count", GgufValue.ofUint32(2),
            "qwen3.context_length", GgufValue.ofUint32(128),
            "qwen3.embedding_length", GgufValue.ofUint32(32),
            "qwen3.feed_forward_length", GgufValue.ofUint32(48),
            "qwen3.attention.head_count", GgufValue.ofUint32(4),
            "qwen3.attention.head_count_kv", GgufValue.ofUint32(2),
            "qwen3.attention.layer_norm_rms_epsilon", GgufValue.of(1e-5f)));
    private final Map<String, TensorInfo> tensors = new LinkedHashMap<>();

    Qwen3ArchitectureTests() {
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
        return new Qwen3Architecture().define(source()).config();
    }

    private Graph graph() {
        return new Qwen3Architecture().define(source()).graph();
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
    void headsHaveTheLengthThatTheFileSays() {
        metadata.put("qwen3.attention.key_length", GgufValue.ofUint32(16));
        ModelConfig config = config();
        assertEquals(16, config.keyLength());
        assertEquals(16, config.valueLength());
        assertEquals(16, config.ropeDim());
        assertEquals(1_000_000, config.ropeFreqBase());
        CoreOp.Linear query = ops(graph(), CoreOp.Linear.class).getFirst();
        assertEquals(4 * 16, query.weight().rows());
    }

    @Test
    void aMixtureOfExpertsIsRefused() {
        refused("qwen3.expert_count", GgufValue.ofUint32(8), ErrorCode.MODEL_ARCHITECTURE);
        assertThrows(UnsupportedModelException.class, this::config);
    }

    @Test
    void moreKeyHeadsThanQueryHeadsAreRefused() {
        refused("qwen3.attention.head_count_kv", GgufValue.ofUint32(5), ErrorCode.MODEL_KEY_VALUE);
    }

    @Test
    void headsOfQueriesAndKeysAreNormedBeforeTheirHalvesAreRotated() {
        Graph graph = graph();
        List<CoreOp.RmsNorm> norms = ops(graph, CoreOp.RmsNorm.class);
        List<CoreOp.Rope> ropes = ops(graph, CoreOp.Rope.class);
        assertEquals(4, ropes.size(), "queries and keys of two layers");
        for (CoreOp.Rope rope : ropes) {
            assertEquals(Pairing.HALF_SPLIT, rope.params().pairing());
            CoreOp.RmsNorm norm = norms.stream()
                    .filter(n -> n.out().equals(rope.x()))
                    .findFirst()
                    .orElseThrow();
            assertEquals(8, norm.weight().cols(), "a head");
        }
    }

    @Test
    void theHeadOfARerankerGivesScores() {
        assertFalse(graph().outputs().containsKey(Graph.SCORES));
        tensor("cls.output.weight", 32, 2);
        Graph graph = graph();
        assertEquals(2, graph.outputs().get(Graph.SCORES).width());
        assertEquals(67, graph.output().width(), "logits stay the default output");
        assertFalse(new Qwen3Architecture().ignores(source(), "blk.0.attn_q.bias"));
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
}
