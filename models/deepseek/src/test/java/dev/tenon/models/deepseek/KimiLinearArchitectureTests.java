package dev.tenon.models.deepseek;

import static org.junit.jupiter.api.Assertions.assertEquals;
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

class KimiLinearArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new KimiLinearArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("kimi-linear")
                .key("block_count", 3)
                .key("attention.head_count_kv", new long[] {0, 1, 0})
                .key("kda.head_dim", 8)
                .key("ssm.conv_kernel", 4)
                .key("attention.key_length", 20)
                .key("attention.value_length", 16)
                .key("attention.key_length_mla", 12)
                .key("attention.value_length_mla", 8)
                .key("attention.kv_lora_rank", 16)
                .key("rope.dimension_count", 4)
                .key("leading_dense_block_count", 1)
                .key("expert_shared_count", 1)
                .key("expert_feed_forward_length", 24)
                .key("expert_weights_scale", 2.5f)
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("ffn_norm.weight", 32)
                .tensor("blk.0.attn_q.weight", 32, 32)
                .tensor("blk.0.ssm_conv1d_q.weight", 4, 1, 32)
                .tensor("blk.0.attn_k.weight", 32, 32)
                .tensor("blk.0.ssm_conv1d_k.weight", 4, 1, 32)
                .tensor("blk.0.attn_v.weight", 32, 32)
                .tensor("blk.0.ssm_conv1d_v.weight", 4, 1, 32)
                .tensor("blk.0.ssm_f_a.weight", 32, 8)
                .tensor("blk.0.ssm_f_b.weight", 8, 32)
                .tensor("blk.0.ssm_dt.bias", 32)
                .tensor("blk.0.ssm_a", 1, 4)
                .tensor("blk.0.ssm_beta.weight", 32, 4)
                .tensor("blk.0.ssm_g_a.weight", 32, 8)
                .tensor("blk.0.ssm_g_b.weight", 8, 32)
                .tensor("blk.0.ssm_norm.weight", 8)
                .tensor("blk.0.attn_output.weight", 32, 32)
                .tensor("blk.1.attn_q.weight", 32, 48)
                .tensor("blk.1.attn_kv_a_mqa.weight", 32, 20)
                .tensor("blk.1.attn_kv_a_norm.weight", 16)
                .tensor("blk.1.attn_k_b.weight", 8, 16, 4)
                .tensor("blk.1.attn_v_b.weight", 16, 8, 4)
                .tensor("blk.1.attn_output.weight", 32, 32)
                .tensor("blk.2.attn_q.weight", 32, 32)
                .tensor("blk.2.ssm_conv1d_q.weight", 4, 1, 32)
                .tensor("blk.2.attn_k.weight", 32, 32)
                .tensor("blk.2.ssm_conv1d_k.weight", 4, 1, 32)
                .tensor("blk.2.attn_v.weight", 32, 32)
                .tensor("blk.2.ssm_conv1d_v.weight", 4, 1, 32)
                .tensor("blk.2.ssm_f_a.weight", 32, 8)
                .tensor("blk.2.ssm_f_b.weight", 8, 32)
                .tensor("blk.2.ssm_dt.bias", 32)
                .tensor("blk.2.ssm_a", 1, 4)
                .tensor("blk.2.ssm_beta.weight", 32, 4)
                .tensor("blk.2.ssm_g_a.weight", 32, 8)
                .tensor("blk.2.ssm_g_b.weight", 8, 32)
                .tensor("blk.2.ssm_norm.weight", 8)
                .tensor("blk.2.attn_output.weight", 32, 32)
                .tensor("blk.0.ffn_gate.weight", 32, 48)
                .tensor("blk.0.ffn_up.weight", 32, 48)
                .tensor("blk.0.ffn_down.weight", 48, 32)
                .tensor("blk.1.ffn_gate_inp.weight", 32, 6)
                .tensor("blk.1.ffn_gate_exps.weight", 32, 24, 6)
                .tensor("blk.1.ffn_up_exps.weight", 32, 24, 6)
                .tensor("blk.1.ffn_down_exps.weight", 24, 32, 6)
                .tensor("blk.1.exp_probs_b.bias", 6)
                .tensor("blk.1.ffn_gate_shexp.weight", 32, 24)
                .tensor("blk.1.ffn_up_shexp.weight", 32, 24)
                .tensor("blk.1.ffn_down_shexp.weight", 24, 32)
                .tensor("blk.2.ffn_gate_inp.weight", 32, 6)
                .tensor("blk.2.ffn_gate_exps.weight", 32, 24, 6)
                .tensor("blk.2.ffn_up_exps.weight", 32, 24, 6)
                .tensor("blk.2.ffn_down_exps.weight", 24, 32, 6)
                .tensor("blk.2.exp_probs_b.bias", 6)
                .tensor("blk.2.ffn_gate_shexp.weight", 32, 24)
                .tensor("blk.2.ffn_up_shexp.weight", 32, 24)
                .tensor("blk.2.ffn_down_shexp.weight", 24, 32);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "attention.head_count_kv",
                "kda.head_dim",
                "ssm.conv_kernel",
                "attention.key_length",
                "attention.value_length",
                "attention.key_length_mla",
                "attention.value_length_mla",
                "attention.kv_lora_rank",
                "expert_count",
                "expert_used_count",
                "expert_shared_count",
                "expert_feed_forward_length");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning()
                .blockCount(3)
                .headCountKv(1)
                .keyLength(20)
                .valueLength(16)
                .ropeDim(4)
                .build();
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    ssm_conv1d_q = short_convolution attn_q, ssm_conv1d_q.weight [4, 32]
                    ssm_conv1d_q_act = activate ssm_conv1d_q, SILU
                    attn_k = linear attn_norm, attn_k.weight [32, 32]
                    ssm_conv1d_k = short_convolution attn_k, ssm_conv1d_k.weight [4, 32]
                    ssm_conv1d_k_act = activate ssm_conv1d_k, SILU
                    qk = join ssm_conv1d_q_act, ssm_conv1d_k_act, groups 1
                    attn_v = linear attn_norm, attn_v.weight [32, 32]
                    ssm_conv1d_v = short_convolution attn_v, ssm_conv1d_v.weight [4, 32]
                    ssm_conv1d_v_act = activate ssm_conv1d_v, SILU
                    qkv = join qk, ssm_conv1d_v_act, groups 1
                    ssm_f_a = linear attn_norm, ssm_f_a.weight [32, 8]
                    ssm_f_b = linear ssm_f_a, ssm_f_b.weight [8, 32]
                    ssm_beta = linear attn_norm, ssm_beta.weight [32, 4]
                    delta = gated_delta_rule qkv, ssm_f_b, ssm_beta, ssm_a [1, 4], ssm_dt.bias [32, 1], keyHeads 4, \
                BLOCK, eps 1.0E-5
                    ssm_g_a = linear attn_norm, ssm_g_a.weight [32, 8]
                    ssm_g_b = linear ssm_g_a, ssm_g_b.weight [8, 32]
                    ssm_norm = rms_norm delta, ssm_norm.weight [8, 1], eps 1.0E-5
                    delta_open = activate ssm_g_b, SIGMOID
                    delta_gated = multiply ssm_norm, delta_open
                    attn_output = linear delta_gated, attn_output.weight [32, 32]
                    residual = add x, attn_output
                    ffn_norm = rms_norm residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add residual, ffn_down
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 48]
                    q_nope = slice attn_q, groups 4, from 0
                    q_pe = slice attn_q, groups 4, from 8
                    q_latent = head_linear q_nope, attn_k_b.weight [8, 16, 4]
                    q = join q_latent, q_pe, groups 4
                    kv_latent = linear attn_norm, attn_kv_a_mqa.weight [32, 16] from row 0
                    attn_kv_a_norm = rms_norm kv_latent, attn_kv_a_norm.weight [16, 1], eps 1.0E-5
                    k_pe = linear attn_norm, attn_kv_a_mqa.weight [32, 4] from row 16
                    k = join attn_kv_a_norm, k_pe, groups 1
                    attn = attention q, k, attn_kv_a_norm, layer 0, heads 4/1, scale 0.28867513, values in keys true
                    attn_values = head_linear attn, attn_v_b.weight [16, 8, 4]
                    attn_output = linear attn_values, attn_output.weight [32, 32]
                    residual = add x, attn_output
                    ffn_norm = rms_norm residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SIGMOID, used 2, normalise true, scale 2.5, \
                exp_probs_b.bias [6, 1]
                    ffn_gate_exps = expert_linear ffn_norm, router.chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear ffn_norm, router.chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_gate_shexp = linear ffn_norm, ffn_gate_shexp.weight [32, 24]
                    ffn_up_shexp = linear ffn_norm, ffn_up_shexp.weight [32, 24]
                    ffn_act_shexp = activate ffn_gate_shexp, SILU
                    ffn_hidden_shexp = multiply ffn_act_shexp, ffn_up_shexp
                    ffn_down_shexp = linear ffn_hidden_shexp, ffn_down_shexp.weight [24, 32]
                    ffn_both = add ffn_moe, ffn_down_shexp
                    ffn_residual = add residual, ffn_both
                blk.2
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    ssm_conv1d_q = short_convolution attn_q, ssm_conv1d_q.weight [4, 32]
                    ssm_conv1d_q_act = activate ssm_conv1d_q, SILU
                    attn_k = linear attn_norm, attn_k.weight [32, 32]
                    ssm_conv1d_k = short_convolution attn_k, ssm_conv1d_k.weight [4, 32]
                    ssm_conv1d_k_act = activate ssm_conv1d_k, SILU
                    qk = join ssm_conv1d_q_act, ssm_conv1d_k_act, groups 1
                    attn_v = linear attn_norm, attn_v.weight [32, 32]
                    ssm_conv1d_v = short_convolution attn_v, ssm_conv1d_v.weight [4, 32]
                    ssm_conv1d_v_act = activate ssm_conv1d_v, SILU
                    qkv = join qk, ssm_conv1d_v_act, groups 1
                    ssm_f_a = linear attn_norm, ssm_f_a.weight [32, 8]
                    ssm_f_b = linear ssm_f_a, ssm_f_b.weight [8, 32]
                    ssm_beta = linear attn_norm, ssm_beta.weight [32, 4]
                    delta = gated_delta_rule qkv, ssm_f_b, ssm_beta, ssm_a [1, 4], ssm_dt.bias [32, 1], keyHeads 4, \
                BLOCK, eps 1.0E-5
                    ssm_g_a = linear attn_norm, ssm_g_a.weight [32, 8]
                    ssm_g_b = linear ssm_g_a, ssm_g_b.weight [8, 32]
                    ssm_norm = rms_norm delta, ssm_norm.weight [8, 1], eps 1.0E-5
                    delta_open = activate ssm_g_b, SIGMOID
                    delta_gated = multiply ssm_norm, delta_open
                    attn_output = linear delta_gated, attn_output.weight [32, 32]
                    residual = add x, attn_output
                    ffn_norm = rms_norm residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SIGMOID, used 2, normalise true, scale 2.5, \
                exp_probs_b.bias [6, 1]
                    ffn_gate_exps = expert_linear ffn_norm, router.chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear ffn_norm, router.chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_gate_shexp = linear ffn_norm, ffn_gate_shexp.weight [32, 24]
                    ffn_up_shexp = linear ffn_norm, ffn_up_shexp.weight [32, 24]
                    ffn_act_shexp = activate ffn_gate_shexp, SILU
                    ffn_hidden_shexp = multiply ffn_act_shexp, ffn_up_shexp
                    ffn_down_shexp = linear ffn_hidden_shexp, ffn_down_shexp.weight [24, 32]
                    ffn_both = add ffn_moe, ffn_down_shexp
                    ffn_residual = add residual, ffn_both
                selected = select_rows blk.2.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(
                tiny().key("attention.kv_lora_rank", 24),
                ErrorCode.MODEL_KEY_VALUE,
                "kimi-linear.attention.key_length");
        refused(tiny().key("kda.head_dim", 0), ErrorCode.MODEL_KEY_VALUE, "kimi-linear.kda.head_dim");
    }
}
