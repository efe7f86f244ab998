package dev.tenon.api.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.ExpertOp.Router;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import dev.tenon.api.model.blocks.ExpertShape;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What the file decides about blocks, and what an architecture says instead.
class DecoderBlocksTests {
    private static final ModelConfig CONFIG = ModelConfig.builder("a")
            .embeddingLength(32)
            .headCount(4)
            .headCountKv(2)
            .keyLength(8)
            .valueLength(8)
            .vocabularySize(67)
            .build();

    private final Map<String, GgufValue> metadata =
            new LinkedHashMap<>(Map.of("general.architecture", GgufValue.of("a")));
    private final Map<String, TensorInfo> tensors = new LinkedHashMap<>();

    private ModelSource source() {
        return new ModelSource(GgufMetadata.of("f.gguf", metadata), tensors);
    }

    private void tensor(String name, Long... shape) {
        tensors.put(name, new TensorInfo(name, 0, List.of(shape), 0, 0, 4));
    }

    private DecoderBlocks blocks() {
        return new DecoderBlocks(source(), CONFIG);
    }

    private static Graph attention(DecoderBlocks d) {
        AttentionParams params = d.attentionParams("blk.0.").build();
        return d.build(d.attention("blk.0.", d.embedding(), 0, params, Optional.empty()));
    }

    private static Optional<String> shape(Graph graph, String tensor) {
        return graph.weights().stream()
                .filter(weight -> weight.name().equals(tensor))
                .map(Weight::toString)
                .findFirst();
    }

    @Test
    void queriesAreNormedAsTheFileSays() {
        String norm = "blk.0.attn_q_norm.weight";
        assertEquals(Optional.empty(), shape(attention(blocks()), norm));
        tensor(norm, 32L);
        assertEquals(Optional.of(norm + " [32, 1]"), shape(attention(blocks()), norm));
        tensor(norm, 8L);
        assertEquals(Optional.of(norm + " [8, 1]"), shape(attention(blocks()), norm));
    }

    @Test
    void whatEveryFileHasIsReadEvenWhereItIsMissing() {
        Graph graph = attention(blocks().always(QkNorm.ROWS).always("attn_output.bias"));
        assertEquals(Optional.of("blk.0.attn_q_norm.weight [32, 1]"), shape(graph, "blk.0.attn_q_norm.weight"));
        assertEquals(Optional.of("blk.0.attn_k_norm.weight [16, 1]"), shape(graph, "blk.0.attn_k_norm.weight"));
        assertEquals(Optional.of("blk.0.attn_output.bias [32, 1]"), shape(graph, "blk.0.attn_output.bias"));
        assertEquals(Optional.empty(), shape(graph, "blk.0.attn_q.bias"));
    }

    @Test
    void gateAndUpOfExpertsMayBeOneTensor() {
        ExpertShape shape = new ExpertShape(6, 2, 24, Gating.SOFTMAX, true, 1, 1, 1);
        tensor("blk.0.ffn_gate_up_exps.weight", 32L, 48L, 6L);
        DecoderBlocks d = blocks();
        Value x = d.embedding();
        Router router = d.router("blk.0.", x, shape);
        Graph graph = d.build(d.experts("blk.0.", x, router, shape, Activation.SILU));
        assertEquals(
                List.of(
                        "blk.0.ffn_gate_up_exps.weight [32, 24, 6] from row 0",
                        "blk.0.ffn_gate_up_exps.weight [32, 24, 6] from row 24",
                        "blk.0.ffn_down_exps.weight [24, 32, 6]"),
                graph.ops().stream()
                        .filter(op -> op.kind().equals("expert_linear"))
                        .map(op -> op.weights().getFirst().toString())
                        .toList());
    }

    @Test
    void theLastBlocksAreDrafts() {
        metadata.put("a.block_count", GgufValue.ofUint32(12));
        assertFalse(DecoderBlocks.isDraft(source(), "blk.11.attn_norm.weight"));
        metadata.put("a.nextn_predict_layers", GgufValue.ofUint32(1));
        assertTrue(DecoderBlocks.isDraft(source(), "blk.11.attn_norm.weight"));
        assertFalse(DecoderBlocks.isDraft(source(), "blk.1.attn_norm.weight"));
        assertFalse(DecoderBlocks.isDraft(source(), "output.weight"));
    }
}
