package dev.tenon.api.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.ExpertOp.Router;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DecoderBlocks.Norm;
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

    /// A bias of a fused matrix is added before the parts are cut out: of one product, however many parts there are.
    @Test
    void aFusedBiasIsKept() {
        tensor("blk.0.attn_qkv.weight", 32L, 64L);
        assertEquals(4, linears(attention(blocks())), "three projections of rows, and that of the result");
        tensor("blk.0.attn_qkv.bias", 64L);
        Graph graph = attention(blocks());
        assertEquals(2, linears(graph));
        assertEquals(Optional.of("blk.0.attn_qkv.bias [64, 1]"), shape(graph, "blk.0.attn_qkv.bias"));
        assertEquals(
                List.of("0+32", "32+16", "48+16"),
                graph.ops().stream()
                        .filter(PartOp.Slice.class::isInstance)
                        .map(PartOp.Slice.class::cast)
                        .map(slice -> slice.from() + "+" + slice.length())
                        .toList());
    }

    private static long linears(Graph graph) {
        return graph.ops().stream()
                .filter(op -> op.kind().equals("linear")
                        && !op.outputs().getFirst().name().equals("logits"))
                .count();
    }

    @Test
    void normsOfAnArchitectureMayBeLayerNorms() {
        assertEquals(Optional.empty(), kind(attention(blocks()), "layer_norm"));
        tensor("output_norm.bias", 32L);
        Graph graph = attention(blocks().norms(Norm.LAYER));
        assertEquals(Optional.of("output_norm"), kind(graph, "layer_norm"));
        assertEquals(Optional.of("output_norm.bias [32, 1]"), shape(graph, "output_norm.bias"));
    }

    private static Optional<String> kind(Graph graph, String kind) {
        return graph.ops().stream()
                .filter(op -> op.kind().equals(kind))
                .map(op -> op.outputs().getFirst().name())
                .findFirst();
    }

    @Test
    void aFeedForwardLayerNeedsNoGate() {
        tensor("blk.0.ffn_up.bias", 48L);
        DecoderBlocks d = blocks();
        Graph graph = d.build(d.feedForward("blk.0.", "", d.embedding(), 48, Activation.RELU));
        assertEquals(Optional.of("blk.0.ffn_up.weight [32, 48]"), shape(graph, "blk.0.ffn_up.weight"));
        assertEquals(Optional.of("blk.0.ffn_up.bias [48, 1]"), shape(graph, "blk.0.ffn_up.bias"));
        assertEquals(Optional.of("blk.0.ffn_down.weight [48, 32]"), shape(graph, "blk.0.ffn_down.weight"));
        assertEquals(Optional.empty(), shape(graph, "blk.0.ffn_gate.weight"));
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
        metadata.put("a.nextn_predict_layers", GgufValue.ofUint32(13));
        assertThrows(ModelFormatException.class, () -> DecoderBlocks.isDraft(source(), "output.weight"));
    }
}
