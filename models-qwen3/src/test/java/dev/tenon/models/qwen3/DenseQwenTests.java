package dev.tenon.models.qwen3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What the dense Qwen models do; that they keep the contract of all architectures, a test of the finished jar
/// shows.
class DenseQwenTests {
    private final Qwen2Architecture qwen2 = new Qwen2Architecture();
    private final Qwen2VlArchitecture qwen2vl = new Qwen2VlArchitecture();
    private final Qwen3Architecture qwen3 = new Qwen3Architecture();
    private final Qwen3VlArchitecture qwen3vl = new Qwen3VlArchitecture();

    @Test
    void qwen2HasBiasesOnQueriesKeysAndValues() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32], attn_q.bias [32, 1]
                    attn_k = linear attn_norm, attn_k.weight [32, 16], attn_k.bias [16, 1]
                    attn_v = linear attn_norm, attn_v.weight [32, 16], attn_v.bias [16, 1]
                    q_rope = rope attn_q, HALF_SPLIT, base 1000000.0, heads of 8
                    k_rope = rope attn_k, HALF_SPLIT, base 1000000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add attn_residual, ffn_down
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, token_embd.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(new TinySource("qwen2").graph(qwen2)));
    }

    @Test
    void qwen3NormsHeadsOfQueriesAndKeysBeforeTheirHalvesAreRotated() {
        TinySource source =
                new TinySource("qwen3").tensor("output.weight", 32, 67).key("attention.key_length", 16);
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 64]
                    attn_k = linear attn_norm, attn_k.weight [32, 32]
                    attn_v = linear attn_norm, attn_v.weight [32, 32]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [16, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, heads of 16
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [16, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 1000000.0, heads of 16
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.25
                    attn_output = linear attn, attn_output.weight [64, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add attn_residual, ffn_down
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(source.graph(qwen3)));
    }

    @Test
    void theTextPartOfQwen2VlIsQwen2() {
        TinySource source = new TinySource("qwen2vl").key("rope.dimension_sections", new long[] {2, 1, 1, 0});
        assertEquals(GraphListing.of(new TinySource("qwen2").graph(qwen2)), GraphListing.of(source.graph(qwen2vl)));
    }

    @Test
    void theTextPartOfQwen3VlIsQwen3() {
        TinySource source = new TinySource("qwen3vl")
                .key("rope.dimension_sections", new long[] {2, 1, 1, 0})
                .key("n_deepstack_layers", 1);
        assertEquals(GraphListing.of(new TinySource("qwen3").graph(qwen3)), GraphListing.of(source.graph(qwen3vl)));
    }

    @Test
    void headsHaveTheLengthThatTheFileSays() {
        ModelConfig config =
                new TinySource("qwen3").key("attention.key_length", 16).config(qwen3);
        assertEquals(16, config.keyLength());
        assertEquals(16, config.valueLength());
        assertEquals(16, config.ropeDim());
        assertEquals(1_000_000, config.ropeFreqBase());
    }

    @Test
    void whatTheFamilyHasNotIsRefused() {
        for (ModelArchitecture each : List.of(qwen2, qwen2vl, qwen3, qwen3vl)) {
            TinySource source = new TinySource(each.id());
            refused(source.key("expert_count", 8), each, "expert_count", ErrorCode.MODEL_ARCHITECTURE);
            assertInstanceOf(UnsupportedModelException.class, source.refusal(each));
            source = new TinySource(each.id()).key("attention.head_count_kv", 5);
            refused(source, each, "attention.head_count_kv", ErrorCode.MODEL_KEY_VALUE);
            source = new TinySource(each.id()).key("rope.scaling.type", "other");
            refused(source, each, "rope.scaling.type", ErrorCode.MODEL_ARCHITECTURE);
        }
    }

    private static void refused(TinySource source, ModelArchitecture architecture, String key, String code) {
        TenonException e = source.refusal(architecture);
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(architecture.id() + "." + key), e.getMessage());
    }

    @Test
    void theHeadOfARerankerGivesScores() {
        TinySource source = new TinySource("qwen3");
        assertFalse(source.graph(qwen3).outputs().containsKey(Graph.SCORES));
        Graph graph = source.tensor("cls.output.weight", 32, 2).graph(qwen3);
        assertEquals(2, graph.outputs().get(Graph.SCORES).width());
        assertEquals(67, graph.output().width(), "logits stay the default output");
    }

    @Test
    void aLayerIsFiveFusedOps() {
        for (ModelArchitecture each : List.of(qwen2, qwen2vl, qwen3, qwen3vl)) {
            Graph graph = new TinySource(each.id()).graph(each);
            // The embedding, the rows that want logits, their norm and the output matrix are beside the layers.
            assertEquals(2 * 5 + 4, Fusion.fuse(graph).ops().size(), each.id());
        }
    }
}
