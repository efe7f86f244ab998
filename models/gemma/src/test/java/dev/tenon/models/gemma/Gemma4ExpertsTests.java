package dev.tenon.models.gemma;

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

/// The model with experts beside the usual feed-forward layer.
class Gemma4ExpertsTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Gemma4Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("gemma4")
                .key("attention.sliding_window", 5)
                .key("attention.sliding_window_pattern", new boolean[] {true, false})
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .key("expert_feed_forward_length", 24)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_q_norm.weight", 8)
                .each("attn_k.weight", 32, 16)
                .each("attn_k_norm.weight", 8)
                .tensor("blk.0.attn_v.weight", 32, 16)
                .each("attn_output.weight", 32, 32)
                .each("post_attention_norm.weight", 32)
                .each("ffn_norm.weight", 32)
                .each("ffn_gate.weight", 32, 48)
                .each("ffn_up.weight", 32, 48)
                .each("ffn_down.weight", 48, 32)
                .each("ffn_gate_inp.weight", 32, 6)
                .each("ffn_gate_inp.scale", 32)
                .each("ffn_gate_up_exps.weight", 32, 48, 6)
                .each("ffn_down_exps.weight", 24, 32, 6)
                .each("ffn_down_exps.scale", 6)
                .each("pre_ffw_norm_2.weight", 32)
                .each("post_ffw_norm_1.weight", 32)
                .each("post_ffw_norm_2.weight", 32)
                .each("post_ffw_norm.weight", 32)
                .each("layer_output_scale.weight", 1);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "feed_forward_length",
                "attention.head_count_kv",
                "attention.sliding_window",
                "attention.sliding_window_pattern",
                "expert_used_count",
                "expert_feed_forward_length");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().ropeFreqBase(1_000_000).build();
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                embd_scaled = scale embd, factor 5.656854
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_v_norm = plain_rms_norm attn_v, groups 2, eps 1.0E-5
                    attn = attention q_rope, k_rope, attn_v_norm, heads 4/2, scale 1.0, window 5
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add x, post_attention_norm
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, GELU_TANH
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    router_norm = rms_norm attn_residual, ffn_gate_inp.scale [32, 1], eps 1.0E-5
                    router_scaled = scale router_norm, factor 0.17677669
                    ffn_gate_inp = linear router_scaled, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2, normalise true
                    pre_ffw_norm_2 = rms_norm attn_residual, pre_ffw_norm_2.weight [32, 1], eps 1.0E-5
                    ffn_gate_exps = expert_linear pre_ffw_norm_2, router.chosen, ffn_gate_up_exps.weight [32, 24, 6] from row 0
                    ffn_up_exps = expert_linear pre_ffw_norm_2, router.chosen, ffn_gate_up_exps.weight [32, 24, 6] from row 24
                    ffn_act_exps = activate ffn_gate_exps, GELU_TANH
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    shares = expert_linear router.shares, router.chosen, ffn_down_exps.scale [1, 1, 6]
                    ffn_moe = weighted_sum ffn_down_exps, shares
                    post_ffw_norm_1 = rms_norm ffn_down, post_ffw_norm_1.weight [32, 1], eps 1.0E-5
                    post_ffw_norm_2 = rms_norm ffn_moe, post_ffw_norm_2.weight [32, 1], eps 1.0E-5
                    ffn_both = add post_ffw_norm_1, post_ffw_norm_2
                    post_ffw_norm = rms_norm ffn_both, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                    layer_output_scale = repeat layer_output_scale.weight [1, 1]
                    layer_out = weighted_sum ffn_residual, layer_output_scale
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, heads of 8
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 1000000.0, heads of 8
                    attn_v_norm = plain_rms_norm attn_k, groups 2, eps 1.0E-5
                    attn = attention q_rope, k_rope, attn_v_norm, heads 4/2, scale 1.0
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add x, post_attention_norm
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, GELU_TANH
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    router_norm = rms_norm attn_residual, ffn_gate_inp.scale [32, 1], eps 1.0E-5
                    router_scaled = scale router_norm, factor 0.17677669
                    ffn_gate_inp = linear router_scaled, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2, normalise true
                    pre_ffw_norm_2 = rms_norm attn_residual, pre_ffw_norm_2.weight [32, 1], eps 1.0E-5
                    ffn_gate_exps = expert_linear pre_ffw_norm_2, router.chosen, ffn_gate_up_exps.weight [32, 24, 6] from row 0
                    ffn_up_exps = expert_linear pre_ffw_norm_2, router.chosen, ffn_gate_up_exps.weight [32, 24, 6] from row 24
                    ffn_act_exps = activate ffn_gate_exps, GELU_TANH
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    shares = expert_linear router.shares, router.chosen, ffn_down_exps.scale [1, 1, 6]
                    ffn_moe = weighted_sum ffn_down_exps, shares
                    post_ffw_norm_1 = rms_norm ffn_down, post_ffw_norm_1.weight [32, 1], eps 1.0E-5
                    post_ffw_norm_2 = rms_norm ffn_moe, post_ffw_norm_2.weight [32, 1], eps 1.0E-5
                    ffn_both = add post_ffw_norm_1, post_ffw_norm_2
                    post_ffw_norm = rms_norm ffn_both, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                    layer_output_scale = repeat layer_output_scale.weight [1, 1]
                    layer_out = weighted_sum ffn_residual, layer_output_scale
                selected = select_rows blk.1.layer_out
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void anUnknownRoutingIsRefused() {
        TenonException e = tiny().key("expert_gating_func", 5).refusal(architecture());
        assertEquals(ErrorCode.MODEL_ARCHITECTURE, e.code());
        assertTrue(e.getMessage().contains("gemma4.expert_gating_func"), e.getMessage());
    }
}
