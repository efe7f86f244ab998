package dev.tenon.models.qwen3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Layers with a gated delta rule or gated attention, and experts in each: what models of Qwen with both have in
/// common.
abstract class DeltaRuleWithExpertsContract extends TinyArchitectureContract {
    /// Adds the tensors that the rule's decay and rate are projected with.
    abstract TinySource rates(TinySource tiny);

    /// {@return the ops that project them, as lines of a listing}
    abstract List<String> rates();

    /// {@return how value heads share key heads}
    abstract String keyHeads();

    @Override
    protected TinySource tiny() {
        return rates(new TinySource(architecture().id())
                .key("rope.dimension_count", 4)
                .key("full_attention_interval", 2)
                .key("ssm.conv_kernel", 4)
                .key("ssm.inner_size", 64)
                .key("ssm.state_size", 16)
                .key("ssm.time_step_rank", 4)
                .key("ssm.group_count", 2)
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .key("expert_feed_forward_length", 24)
                .key("expert_shared_feed_forward_length", 40)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("blk.0.attn_norm.weight", 32)
                .tensor("blk.0.attn_qkv.weight", 32, 128)
                .tensor("blk.0.attn_gate.weight", 32, 64)
                .tensor("blk.0.ssm_conv1d.weight", 4, 128)
                .tensor("blk.0.ssm_dt.bias", 4)
                .tensor("blk.0.ssm_a", 4)
                .tensor("blk.0.ssm_norm.weight", 16)
                .tensor("blk.0.ssm_out.weight", 64, 32)
                .tensor("blk.0.post_attention_norm.weight", 32)
                .tensor("blk.0.ffn_gate_inp.weight", 32, 6)
                .tensor("blk.0.ffn_gate_exps.weight", 32, 24, 6)
                .tensor("blk.0.ffn_up_exps.weight", 32, 24, 6)
                .tensor("blk.0.ffn_down_exps.weight", 24, 32, 6)
                .tensor("blk.0.ffn_gate_inp_shexp.weight", 32)
                .tensor("blk.0.ffn_gate_shexp.weight", 32, 40)
                .tensor("blk.0.ffn_up_shexp.weight", 32, 40)
                .tensor("blk.0.ffn_down_shexp.weight", 40, 32)
                .tensor("blk.1.attn_norm.weight", 32)
                .tensor("blk.1.attn_q.weight", 32, 64)
                .tensor("blk.1.attn_k.weight", 32, 16)
                .tensor("blk.1.attn_v.weight", 32, 16)
                .tensor("blk.1.attn_q_norm.weight", 8)
                .tensor("blk.1.attn_k_norm.weight", 8)
                .tensor("blk.1.attn_output.weight", 32, 32)
                .tensor("blk.1.post_attention_norm.weight", 32)
                .tensor("blk.1.ffn_gate_inp.weight", 32, 6)
                .tensor("blk.1.ffn_gate_exps.weight", 32, 24, 6)
                .tensor("blk.1.ffn_up_exps.weight", 32, 24, 6)
                .tensor("blk.1.ffn_down_exps.weight", 24, 32, 6)
                .tensor("blk.1.ffn_gate_inp_shexp.weight", 32)
                .tensor("blk.1.ffn_gate_shexp.weight", 32, 40)
                .tensor("blk.1.ffn_up_shexp.weight", 32, 40)
                .tensor("blk.1.ffn_down_shexp.weight", 40, 32));
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "expert_count",
                "expert_used_count",
                "expert_feed_forward_length",
                "expert_shared_feed_forward_length",
                "ssm.conv_kernel",
                "ssm.inner_size",
                "ssm.state_size",
                "ssm.time_step_rank",
                "ssm.group_count");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().ropeDim(4).ropeFreqBase(10_000_000).build();
    }

    private void refused(TinySource tiny, String code, String key) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(architecture().id() + "." + key), e.getMessage());
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals(
                """
                embd = embedding token_embd.weight [32, 67]
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_qkv = linear attn_norm, attn_qkv.weight [32, 128]
                    ssm_conv1d = short_convolution attn_qkv, ssm_conv1d.weight [4, 128]
                    ssm_conv_act = activate ssm_conv1d, SILU
                    attn_gate = linear attn_norm, attn_gate.weight [32, 64]
                    %s
                    delta = gated_delta_rule ssm_conv_act, ssm_alpha, ssm_beta, ssm_a [4, 1], ssm_dt.bias [4, 1], keyHeads 2, %s, eps 1.0E-5
                    ssm_norm = rms_norm delta, ssm_norm.weight [16, 1], eps 1.0E-5
                    delta_gate_act = activate attn_gate, SILU
                    delta_gated = multiply ssm_norm, delta_gate_act
                    ssm_out = linear delta_gated, ssm_out.weight [64, 32]
                    residual = add x, ssm_out
                    post_attention_norm = rms_norm residual, post_attention_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear post_attention_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2, normalise true
                    ffn_gate_exps = expert_linear post_attention_norm, router.chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear post_attention_norm, router.chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_gate_shexp = linear post_attention_norm, ffn_gate_shexp.weight [32, 40]
                    ffn_up_shexp = linear post_attention_norm, ffn_up_shexp.weight [32, 40]
                    ffn_act_shexp = activate ffn_gate_shexp, SILU
                    ffn_hidden_shexp = multiply ffn_act_shexp, ffn_up_shexp
                    ffn_down_shexp = linear ffn_hidden_shexp, ffn_down_shexp.weight [40, 32]
                    ffn_gate_inp_shexp = linear post_attention_norm, ffn_gate_inp_shexp.weight [32, 1]
                    ffn_gate_act_shexp = activate ffn_gate_inp_shexp, SIGMOID
                    ffn_shared = weighted_sum ffn_down_shexp, ffn_gate_act_shexp
                    ffn_sum = add ffn_moe, ffn_shared
                    ffn_residual = add residual, ffn_sum
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 64]
                    attn_query = slice attn_q, groups 4, from 0
                    attn_gate = slice attn_q, groups 4, from 8
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_q_norm = rms_norm attn_query, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1.0E7, 4 of heads of 8
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 1.0E7, 4 of heads of 8
                    attn = attention q_rope, k_rope, attn_v, layer 0, heads 4/2, scale 0.35355338
                    attn_gate_act = activate attn_gate, SIGMOID
                    attn_gated = multiply attn, attn_gate_act
                    attn_output = linear attn_gated, attn_output.weight [32, 32]
                    residual = add x, attn_output
                    post_attention_norm = rms_norm residual, post_attention_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear post_attention_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2, normalise true
                    ffn_gate_exps = expert_linear post_attention_norm, router.chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear post_attention_norm, router.chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_gate_shexp = linear post_attention_norm, ffn_gate_shexp.weight [32, 40]
                    ffn_up_shexp = linear post_attention_norm, ffn_up_shexp.weight [32, 40]
                    ffn_act_shexp = activate ffn_gate_shexp, SILU
                    ffn_hidden_shexp = multiply ffn_act_shexp, ffn_up_shexp
                    ffn_down_shexp = linear ffn_hidden_shexp, ffn_down_shexp.weight [40, 32]
                    ffn_gate_inp_shexp = linear post_attention_norm, ffn_gate_inp_shexp.weight [32, 1]
                    ffn_gate_act_shexp = activate ffn_gate_inp_shexp, SIGMOID
                    ffn_shared = weighted_sum ffn_down_shexp, ffn_gate_act_shexp
                    ffn_sum = add ffn_moe, ffn_shared
                    ffn_residual = add residual, ffn_sum
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""".formatted(String.join("\n    ", rates()), keyHeads()),
                GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void expertsThatAreNotThereAreRefused() {
        refused(tiny().without("expert_count"), ErrorCode.MODEL_KEY_MISSING, "expert_count");
        refused(tiny().key("expert_gating_func", 9), ErrorCode.MODEL_ARCHITECTURE, "expert_gating_func");
    }

    @Test
    void statesThatDoNotFitAreRefused() {
        refused(tiny().without("ssm.inner_size"), ErrorCode.MODEL_KEY_MISSING, "ssm.inner_size");
        refused(tiny().key("ssm.conv_kernel", 0), ErrorCode.MODEL_KEY_VALUE, "ssm.conv_kernel");
    }
}
