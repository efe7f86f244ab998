package dev.tenon.models.llama;

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

class Llama4ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Llama4Architecture();
    }

    @Override
    protected TinySource tiny() {
        TinySource tiny = new TinySource("llama4")
                .key("block_count", 4)
                .key("expert_count", 6)
                .key("expert_used_count", 1)
                .key("expert_feed_forward_length", 24)
                .key("interleave_moe_layer_step", 2)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("rope_freqs.weight", 4);
        for (int layer = 0; layer < 4; layer++) {
            String blk = "blk." + layer + ".";
            tiny.tensor(blk + "attn_norm.weight", 32)
                    .tensor(blk + "attn_q.weight", 32, 32)
                    .tensor(blk + "attn_k.weight", 32, 16)
                    .tensor(blk + "attn_v.weight", 32, 16)
                    .tensor(blk + "attn_output.weight", 32, 32)
                    .tensor(blk + "ffn_norm.weight", 32);
            if (layer % 2 == 0) {
                tiny.tensor(blk + "ffn_gate.weight", 32, 48)
                        .tensor(blk + "ffn_up.weight", 32, 48)
                        .tensor(blk + "ffn_down.weight", 48, 32);
            } else {
                tiny.tensor(blk + "ffn_gate_inp.weight", 32, 6)
                        .tensor(blk + "ffn_gate_exps.weight", 32, 24, 6)
                        .tensor(blk + "ffn_up_exps.weight", 32, 24, 6)
                        .tensor(blk + "ffn_down_exps.weight", 24, 32, 6)
                        .tensor(blk + "ffn_gate_shexp.weight", 32, 24)
                        .tensor(blk + "ffn_up_shexp.weight", 32, 24)
                        .tensor(blk + "ffn_down_shexp.weight", 24, 32);
            }
        }
        return tiny;
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("expert_feed_forward_length", "expert_count", "expert_used_count");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().blockCount(4).ropeFreqBase(500_000).build();
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
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    q_rope = rope attn_q, INTERLEAVED, base 500000.0, heads of 8, rope_freqs.weight [4, 1]
                    k_rope = rope attn_k, INTERLEAVED, base 500000.0, heads of 8, rope_freqs.weight [4, 1]
                    q_norm = plain_rms_norm q_rope, groups 4, eps 1.0E-5
                    k_norm = plain_rms_norm k_rope, groups 2, eps 1.0E-5
                    attn = attention q_norm, k_norm, attn_v, heads 4/2, scale 0.35355338, chunk 8192
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add attn_residual, ffn_down
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    q_rope = rope attn_q, INTERLEAVED, base 500000.0, heads of 8, rope_freqs.weight [4, 1]
                    k_rope = rope attn_k, INTERLEAVED, base 500000.0, heads of 8, rope_freqs.weight [4, 1]
                    q_norm = plain_rms_norm q_rope, groups 4, eps 1.0E-5
                    k_norm = plain_rms_norm k_rope, groups 2, eps 1.0E-5
                    attn = attention q_norm, k_norm, attn_v, heads 4/2, scale 0.35355338, chunk 8192
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SIGMOID, used 1
                    ffn_weighted = weighted_sum ffn_norm, router.shares
                    ffn_gate_exps = expert_linear ffn_weighted, router.chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear ffn_weighted, router.chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    ffn_gate_shexp = linear ffn_norm, ffn_gate_shexp.weight [32, 24]
                    ffn_up_shexp = linear ffn_norm, ffn_up_shexp.weight [32, 24]
                    ffn_act_shexp = activate ffn_gate_shexp, SILU
                    ffn_hidden_shexp = multiply ffn_act_shexp, ffn_up_shexp
                    ffn_down_shexp = linear ffn_hidden_shexp, ffn_down_shexp.weight [24, 32]
                    ffn_both = add ffn_down_exps, ffn_down_shexp
                    ffn_residual = add attn_residual, ffn_both
                blk.2
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    q_rope = rope attn_q, INTERLEAVED, base 500000.0, heads of 8, rope_freqs.weight [4, 1]
                    k_rope = rope attn_k, INTERLEAVED, base 500000.0, heads of 8, rope_freqs.weight [4, 1]
                    q_norm = plain_rms_norm q_rope, groups 4, eps 1.0E-5
                    k_norm = plain_rms_norm k_rope, groups 2, eps 1.0E-5
                    attn = attention q_norm, k_norm, attn_v, heads 4/2, scale 0.35355338, chunk 8192
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add attn_residual, ffn_down
                blk.3
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    q_scaled = position_scale attn_q, gain 0.1, offset 1, period 8192
                    attn = attention q_scaled, attn_k, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SIGMOID, used 1
                    ffn_weighted = weighted_sum ffn_norm, router.shares
                    ffn_gate_exps = expert_linear ffn_weighted, router.chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear ffn_weighted, router.chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    ffn_gate_shexp = linear ffn_norm, ffn_gate_shexp.weight [32, 24]
                    ffn_up_shexp = linear ffn_norm, ffn_up_shexp.weight [32, 24]
                    ffn_act_shexp = activate ffn_gate_shexp, SILU
                    ffn_hidden_shexp = multiply ffn_act_shexp, ffn_up_shexp
                    ffn_down_shexp = linear ffn_hidden_shexp, ffn_down_shexp.weight [24, 32]
                    ffn_both = add ffn_down_exps, ffn_down_shexp
                    ffn_residual = add attn_residual, ffn_both
                selected = select_rows blk.3.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    /// Each of a token's experts reads the row by its own weight; their results are added as they are.
    @Test
    void aTokenMayUseTwoExperts() {
        String listing = GraphListing.of(tiny().key("expert_used_count", 2).graph(architecture()));
        String wanted = """
                    router.chosen, router.shares = router ffn_gate_inp, SIGMOID, used 2
                    ffn_share.0 = slice router.shares, groups 1, from 0
                    ffn_weighted.0 = weighted_sum ffn_norm, ffn_share.0
                    ffn_share.1 = slice router.shares, groups 1, from 1
                    ffn_weighted.1 = weighted_sum ffn_norm, ffn_share.1
                    ffn_weighted.to.1 = join ffn_weighted.0, ffn_weighted.1, groups 1
                    ffn_gate_exps = expert_linear ffn_weighted.to.1, router.chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear ffn_weighted.to.1, router.chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    ffn_part.0 = slice ffn_down_exps, groups 1, from 0
                    ffn_part.1 = slice ffn_down_exps, groups 1, from 32
                    ffn_chosen.1 = add ffn_part.0, ffn_part.1
                """;
        assertTrue(listing.contains(wanted), listing);
    }

    @Test
    void theModelWithMostExpertsDoesNotNormQueries() {
        assertFalse(GraphListing.of(tiny().key("expert_count", 128).graph(architecture()))
                .contains("plain_rms_norm"));
    }

    @Test
    void everyLayerMayHaveExperts() {
        TinySource tiny = tiny().without("interleave_moe_layer_step");
        assertEquals(
                4,
                tiny.graph(architecture()).ops().stream()
                        .filter(op -> op.kind().equals("router"))
                        .count());
    }

    @Test
    void expertsThatAreNotThereAreRefused() {
        refused(tiny().without("feed_forward_length"), ErrorCode.MODEL_KEY_MISSING, "llama4.feed_forward_length");
        refused(tiny().without("expert_count"), ErrorCode.MODEL_KEY_MISSING, "llama4.expert_count");
        refused(tiny().key("expert_used_count", 7), ErrorCode.MODEL_KEY_VALUE, "llama4.expert_used_count");
        refused(tiny().key("expert_gating_func", 9), ErrorCode.MODEL_ARCHITECTURE, "llama4.expert_gating_func");
    }
}
