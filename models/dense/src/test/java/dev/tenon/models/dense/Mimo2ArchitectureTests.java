package dev.tenon.models.dense;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class Mimo2ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Mimo2Architecture();
    }

    /// A dense layer that sees everything, and one of experts with a window.
    @Override
    protected TinySource tiny() {
        return new TinySource("mimo2")
                .key("attention.head_count_kv", new long[] {1, 2})
                .key("attention.key_length", 12)
                .key("attention.value_length", 8)
                .key("attention.value_scale", 0.5f)
                .key("attention.sliding_window", 5)
                .key("attention.sliding_window_pattern", new boolean[] {false, true})
                .key("rope.dimension_count", 4)
                .key("rope.freq_base", 5_000_000f)
                .key("rope.freq_base_swa", 10_000f)
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .key("expert_feed_forward_length", 24)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 48)
                .tensor("blk.0.attn_k.weight", 32, 12)
                .tensor("blk.0.attn_v.weight", 32, 8)
                .tensor("blk.1.attn_k.weight", 32, 24)
                .tensor("blk.1.attn_v.weight", 32, 16)
                .tensor("blk.1.attn_sinks.weight", 4)
                .each("attn_output.weight", 32, 32)
                .each("ffn_norm.weight", 32)
                .tensor("blk.0.ffn_gate.weight", 32, 48)
                .tensor("blk.0.ffn_up.weight", 32, 48)
                .tensor("blk.0.ffn_down.weight", 48, 32)
                .tensor("blk.1.ffn_gate_inp.weight", 32, 6)
                .tensor("blk.1.exp_probs_b.bias", 6)
                .tensor("blk.1.ffn_gate_exps.weight", 32, 24, 6)
                .tensor("blk.1.ffn_up_exps.weight", 32, 24, 6)
                .tensor("blk.1.ffn_down_exps.weight", 24, 32, 6);
    }

    @Override
    protected boolean layersHaveHeadsOfTheirOwn() {
        return true;
    }

    /// Attention is scaled by an op of its own.
    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "attention.head_count_kv",
                "attention.sliding_window",
                "attention.sliding_window_pattern",
                "expert_count",
                "expert_used_count",
                "expert_feed_forward_length");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning()
                .keyLength(12)
                .ropeDim(4)
                .ropeFreqBase(5_000_000)
                .build();
    }

    @Test
    void theGraphIsThatOfThePublishedModel() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 48]
                    attn_k = linear attn_norm, attn_k.weight [32, 12]
                    attn_v = linear attn_norm, attn_v.weight [32, 8]
                    q_rope = rope attn_q, HALF_SPLIT, base 5000000.0, 4 of heads of 12
                    k_rope = rope attn_k, HALF_SPLIT, base 5000000.0, 4 of heads of 12
                    attn = attention q_rope, k_rope, attn_v, heads 4/1, scale 0.28867513
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_scaled = scale attn_output, factor 0.5
                    attn_residual = add x, attn_scaled
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add attn_residual, ffn_down
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 48]
                    attn_k = linear attn_norm, attn_k.weight [32, 24]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    q_rope = rope attn_q, HALF_SPLIT, base 10000.0, 4 of heads of 12
                    k_rope = rope attn_k, HALF_SPLIT, base 10000.0, 4 of heads of 12
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.28867513, window 5, attn_sinks.weight [4, 1]
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_scaled = scale attn_output, factor 0.5
                    attn_residual = add x, attn_scaled
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SIGMOID, used 2, normalise true, exp_probs_b.bias [6, 1]
                    ffn_gate_exps = expert_linear ffn_norm, router.chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear ffn_norm, router.chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_residual = add attn_residual, ffn_moe
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void draftBlocksAreIgnored() {
        TinySource source = tiny().key("block_count", 3)
                .key("nextn_predict_layers", 1)
                .key("attention.head_count_kv", new long[] {1, 2, 2})
                .key("attention.sliding_window_pattern", new long[] {0, 1, 1});
        assertEquals(2, source.config(architecture()).blockCount());
        assertTrue(architecture().ignores(source.source(), "blk.2.nextn.eh_proj.weight"));
        assertFalse(architecture().ignores(source.source(), "blk.1.attn_norm.weight"));
    }

    @Test
    void withoutAScaleAndABaseOfItsOwnALayerHasThoseOfAll() {
        String listing = GraphListing.of(tiny().without("attention.value_scale")
                .without("rope.freq_base_swa")
                .graph(architecture()));
        assertFalse(listing.contains("scale attn_output"), listing);
        assertFalse(listing.contains("base 10000.0"), listing);
    }
}
