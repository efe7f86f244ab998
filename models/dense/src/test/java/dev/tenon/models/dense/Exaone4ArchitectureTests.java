package dev.tenon.models.dense;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class Exaone4ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Exaone4Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("exaone4")
                .key("block_count", 4)
                .key("attention.sliding_window", 5)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("rope_freqs.weight", 4)
                .each("attn_q.weight", 32, 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_output.weight", 32, 32)
                .each("attn_q_norm.weight", 8)
                .each("attn_k_norm.weight", 8)
                .each("post_attention_norm.weight", 32)
                .each("ffn_gate.weight", 32, 48)
                .each("ffn_up.weight", 32, 48)
                .each("ffn_down.weight", 48, 32)
                .each("post_ffw_norm.weight", 32);
    }

    /// Norms stand between the projections and the sums.
    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("feed_forward_length");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().blockCount(4).ropeFreqBase(1_000_000).build();
    }

    private void refused(TinySource tiny, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(ErrorCode.MODEL_ARCHITECTURE, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0, blk.1, blk.2
                    attn_q = linear x, attn_q.weight [32, 32]
                    attn_k = linear x, attn_k.weight [32, 16]
                    attn_v = linear x, attn_v.weight [32, 16]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, heads of 8, rope_freqs.weight [4, 1]
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 1000000.0, heads of 8, rope_freqs.weight [4, 1]
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338, window 5
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add x, post_attention_norm
                    ffn_gate = linear attn_residual, ffn_gate.weight [32, 48]
                    ffn_up = linear attn_residual, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                blk.3
                    attn_q = linear x, attn_q.weight [32, 32]
                    attn_k = linear x, attn_k.weight [32, 16]
                    attn_v = linear x, attn_v.weight [32, 16]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    attn = attention attn_q_norm, attn_k_norm, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add x, post_attention_norm
                    ffn_gate = linear attn_residual, ffn_gate.weight [32, 48]
                    ffn_up = linear attn_residual, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                selected = select_rows blk.3.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void withoutAWindowAllLayersRotateAndSeeEverything() {
        String listing =
                GraphListing.of(tiny().without("attention.sliding_window").graph(architecture()));
        assertTrue(listing.contains("blk.0, blk.1, blk.2, blk.3\n"), listing);
        assertFalse(listing.contains("window"), listing);
    }

    @Test
    void theModelOf64LayersHasAWindowWithoutAKey() {
        String listing = GraphListing.of(tiny().key("block_count", 64)
                .without("attention.sliding_window")
                .graph(architecture()));
        assertTrue(listing.contains("window 4096"), listing);
    }

    @Test
    void expertsAndUnknownScalingsAreRefused() {
        refused(tiny().key("expert_count", 8), "exaone4.expert_count");
        refused(tiny().key("rope.scaling.type", "other"), "exaone4.rope.scaling.type");
    }
}
