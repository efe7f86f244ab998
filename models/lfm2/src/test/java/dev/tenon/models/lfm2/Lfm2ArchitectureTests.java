package dev.tenon.models.lfm2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class Lfm2ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Lfm2Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("lfm2")
                .key("attention.head_count_kv", new long[] {0, 2})
                .key("shortconv.l_cache", 3)
                .key("rope.freq_base", 1000000.0f)
                .tensor("output.weight", 32, 67)
                .tensor("token_embd_norm.weight", 32)
                .tensor("blk.0.attn_norm.weight", 32)
                .tensor("blk.0.shortconv.in_proj.weight", 32, 96)
                .tensor("blk.0.shortconv.conv.weight", 3, 32)
                .tensor("blk.0.shortconv.out_proj.weight", 32, 32)
                .tensor("blk.0.ffn_norm.weight", 32)
                .tensor("blk.0.ffn_gate.weight", 32, 48)
                .tensor("blk.0.ffn_up.weight", 32, 48)
                .tensor("blk.0.ffn_down.weight", 48, 32)
                .tensor("blk.1.attn_norm.weight", 32)
                .tensor("blk.1.attn_q.weight", 32, 32)
                .tensor("blk.1.attn_k.weight", 32, 16)
                .tensor("blk.1.attn_v.weight", 32, 16)
                .tensor("blk.1.attn_output.weight", 32, 32)
                .tensor("blk.1.attn_q_norm.weight", 8)
                .tensor("blk.1.attn_k_norm.weight", 8)
                .tensor("blk.1.ffn_norm.weight", 32)
                .tensor("blk.1.ffn_gate.weight", 32, 48)
                .tensor("blk.1.ffn_up.weight", 32, 48)
                .tensor("blk.1.ffn_down.weight", 48, 32);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("feed_forward_length", "attention.head_count_kv", "shortconv.l_cache");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().ropeFreqBase(1_000_000).build();
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    conv_b = linear attn_norm, shortconv.in_proj.weight [32, 32] from row 0
                    conv_g = linear attn_norm, shortconv.in_proj.weight [32, 32] from row 32
                    conv_u = linear attn_norm, shortconv.in_proj.weight [32, 32] from row 64
                    conv_bu = multiply conv_b, conv_u
                    conv = short_convolution conv_bu, shortconv.conv.weight [3, 32]
                    conv_gated = multiply conv_g, conv
                    shortconv.out_proj = linear conv_gated, shortconv.out_proj.weight [32, 32]
                    residual = add x, shortconv.out_proj
                    ffn_norm = rms_norm residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add residual, ffn_down
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, heads of 8
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 1000000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, layer 0, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    residual = add x, attn_output
                    ffn_norm = rms_norm residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add residual, ffn_down
                selected = select_rows blk.1.ffn_residual
                token_embd_norm = rms_norm selected, token_embd_norm.weight [32, 1], eps 1.0E-5
                logits = linear token_embd_norm, output.weight [32, 67]
                output logits, named {hidden=token_embd_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void aModelOfVectorsSeesWhatFollows() {
        Graph graph =
                tiny().key("attention.causal", false).key("pooling_type", 2).graph(architecture());
        String listing = GraphListing.of(graph);
        assertTrue(listing.contains("conv = centred_convolution conv_bu, shortconv.conv.weight [3, 32]"), listing);
        assertTrue(listing.contains("attn_v, layer 0, heads 4/2, scale 0.35355338, causal false"), listing);
        assertTrue(listing.contains("pooled = pool token_embd_norm, CLS"), listing);
        assertFalse(graph.isCausal());
    }

    @Test
    void whatIsNotThereOrNotImplementedIsRefused() {
        refused(tiny().key("attention.head_count_kv", new long[] {0}), ErrorCode.MODEL_KEY_VALUE, "layers");
        refused(tiny().key("attention.head_count_kv", new long[] {0, 3}), ErrorCode.MODEL_KEY_VALUE, "head_count");
        refused(tiny().key("shortconv.l_cache", 0), ErrorCode.MODEL_KEY_VALUE, "lfm2.shortconv.l_cache");
        refused(tiny().key("expert_count", 4), ErrorCode.MODEL_ARCHITECTURE, "lfm2.expert_count");
    }
}
