package dev.tenon.models.deepseek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import org.junit.jupiter.api.Test;

class DeepSeek2ArchitectureTests extends LatentContract {
    @Override
    protected ModelArchitecture architecture() {
        return new DeepSeek2Architecture();
    }

    @Override
    protected TinySource tiny() {
        return yarn(latent("deepseek2")).key("expert_group_count", 4).key("expert_group_used_count", 2);
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q_a = linear attn_norm, attn_q_a.weight [32, 20]
                    attn_q_a_norm = rms_norm attn_q_a, attn_q_a_norm.weight [20, 1], eps 1.0E-5
                    attn_q_b = linear attn_q_a_norm, attn_q_b.weight [20, 40]
                    q_nope = slice attn_q_b, groups 4, from 0
                    q_pe = slice attn_q_b, groups 4, from 6
                    q_rope = rope q_pe, INTERLEAVED, base 10000.0, heads of 4, Yarn[factor=8.0, \
                originalContextLength=64, betaFast=32.0, betaSlow=1.0]
                    q_latent = head_linear q_nope, attn_k_b.weight [6, 12, 4]
                    q = join q_latent, q_rope, groups 4
                    kv_latent = linear attn_norm, attn_kv_a_mqa.weight [32, 12] from row 0
                    attn_kv_a_norm = rms_norm kv_latent, attn_kv_a_norm.weight [12, 1], eps 1.0E-5
                    k_pe = linear attn_norm, attn_kv_a_mqa.weight [32, 4] from row 12
                    k_rope = rope k_pe, INTERLEAVED, base 10000.0, heads of 4, Yarn[factor=8.0, \
                originalContextLength=64, betaFast=32.0, betaSlow=1.0]
                    k = join attn_kv_a_norm, k_rope, groups 1
                    attn = attention q, k, attn_kv_a_norm, heads 4/1, scale 0.46141714, values in keys true
                    attn_values = head_linear attn, attn_v_b.weight [12, 8, 4]
                    attn_output = linear attn_values, attn_output.weight [32, 32]
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
                    attn_q_a = linear attn_norm, attn_q_a.weight [32, 20]
                    attn_q_a_norm = rms_norm attn_q_a, attn_q_a_norm.weight [20, 1], eps 1.0E-5
                    attn_q_b = linear attn_q_a_norm, attn_q_b.weight [20, 40]
                    q_nope = slice attn_q_b, groups 4, from 0
                    q_pe = slice attn_q_b, groups 4, from 6
                    q_rope = rope q_pe, INTERLEAVED, base 10000.0, heads of 4, Yarn[factor=8.0, \
                originalContextLength=64, betaFast=32.0, betaSlow=1.0]
                    q_latent = head_linear q_nope, attn_k_b.weight [6, 12, 4]
                    q = join q_latent, q_rope, groups 4
                    kv_latent = linear attn_norm, attn_kv_a_mqa.weight [32, 12] from row 0
                    attn_kv_a_norm = rms_norm kv_latent, attn_kv_a_norm.weight [12, 1], eps 1.0E-5
                    k_pe = linear attn_norm, attn_kv_a_mqa.weight [32, 4] from row 12
                    k_rope = rope k_pe, INTERLEAVED, base 10000.0, heads of 4, Yarn[factor=8.0, \
                originalContextLength=64, betaFast=32.0, betaSlow=1.0]
                    k = join attn_kv_a_norm, k_rope, groups 1
                    attn = attention q, k, attn_kv_a_norm, heads 4/1, scale 0.46141714, values in keys true
                    attn_values = head_linear attn, attn_v_b.weight [12, 8, 4]
                    attn_output = linear attn_values, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 8]
                    router.chosen, router.shares = router ffn_gate_inp, SIGMOID, used 3, normalise true, scale 2.5, \
                groups 4, groups used 2, exp_probs_b.bias [8, 1]
                    ffn_gate_exps = expert_linear ffn_norm, router.chosen, ffn_gate_exps.weight [32, 24, 8]
                    ffn_up_exps = expert_linear ffn_norm, router.chosen, ffn_up_exps.weight [32, 24, 8]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 8]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_gate_shexp = linear ffn_norm, ffn_gate_shexp.weight [32, 48]
                    ffn_up_shexp = linear ffn_norm, ffn_up_shexp.weight [32, 48]
                    ffn_act_shexp = activate ffn_gate_shexp, SILU
                    ffn_hidden_shexp = multiply ffn_act_shexp, ffn_up_shexp
                    ffn_down_shexp = linear ffn_hidden_shexp, ffn_down_shexp.weight [48, 32]
                    ffn_both = add ffn_moe, ffn_down_shexp
                    ffn_residual = add attn_residual, ffn_both
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void queriesMayComeFromOneMatrix() {
        TinySource tiny = tiny().without("attention.q_lora_rank");
        String listing = GraphListing.of(tiny.graph(architecture()));
        assertTrue(listing.contains("attn_q = linear attn_norm, attn_q.weight [32, 40]"), listing);
        assertTrue(listing.contains("q_nope = slice attn_q, groups 4, from 0"), listing);
    }

    @Test
    void queriesAreScaledByPositionWhereTheFileSaysSo() {
        TinySource tiny = tiny().key("attention.temperature_scale", 0.1f);
        String listing = GraphListing.of(tiny.graph(architecture()));
        assertTrue(listing.contains("q_scaled = position_scale q, gain 0.1, offset 0, period 64"), listing);
    }

    @Test
    void widthsThatDoNotFitAreRefused() {
        refused(tiny().key("attention.key_length", 17), ErrorCode.MODEL_KEY_VALUE, "deepseek2.attention.key_length");
        refused(tiny().key("attention.value_length", 8), ErrorCode.MODEL_KEY_VALUE, "deepseek2.attention.value_length");
        refused(
                tiny().key("attention.key_length_mla", 4),
                ErrorCode.MODEL_KEY_VALUE,
                "deepseek2.attention.key_length_mla");
    }

    @Test
    void theOlderFormOfTheFileIsRefusedByName() {
        refused(tiny().tensor("blk.0.attn_kv_b.weight", 12, 56), ErrorCode.MODEL_ARCHITECTURE, "attn_kv_b");
    }

    @Test
    void expertsThatDoNotFitAreRefused() {
        refused(tiny().without("expert_count"), ErrorCode.MODEL_KEY_MISSING, "deepseek2.expert_count");
        refused(tiny().key("expert_group_count", 3), ErrorCode.MODEL_KEY_VALUE, "deepseek2.expert_group_count");
        refused(tiny().key("expert_used_count", 5), ErrorCode.MODEL_KEY_VALUE, "deepseek2.expert_used_count");
    }
}
