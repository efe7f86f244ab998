package dev.tenon.models.qwen3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.GoldenLogits;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class Qwen2MoeArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Qwen2MoeArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("qwen2moe")
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .key("expert_feed_forward_length", 24)
                .key("expert_shared_feed_forward_length", 40)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_q.bias", 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_k.bias", 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_v.bias", 16)
                .each("attn_output.weight", 32, 32)
                .each("ffn_norm.weight", 32)
                .each("ffn_gate_inp.weight", 32, 6)
                .each("ffn_gate_exps.weight", 32, 24, 6)
                .each("ffn_up_exps.weight", 32, 24, 6)
                .each("ffn_down_exps.weight", 24, 32, 6)
                .each("ffn_gate_inp_shexp.weight", 32)
                .each("ffn_gate_shexp.weight", 32, 40)
                .each("ffn_up_shexp.weight", 32, 40)
                .each("ffn_down_shexp.weight", 40, 32);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "expert_feed_forward_length", "expert_shared_feed_forward_length", "expert_count", "expert_used_count");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().ropeFreqBase(1_000_000).build();
    }

    /// From a float64 program of the equations alone.
    @Override
    protected List<GoldenLogits> golden() {
        return List.of(new GoldenLogits(
                "seven tokens",
                new int[] {3, 41, 5, 60, 22, 9, 17},
                -1.053195f,
                1.769962f,
                -0.074085f,
                0.879538f,
                0.239621f,
                0.499275f,
                -1.623223f,
                0.859559f,
                -2.398862f,
                0.696970f,
                0.539567f,
                -1.569656f,
                0.807752f,
                -0.021341f,
                0.357752f,
                0.186198f));
    }

    @Test
    void theGraphIsThatOfThePaper() {
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
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2
                    ffn_gate_exps = expert_linear ffn_norm, router.chosen, ffn_gate_exps.weight [32, 24, 6]
                    ffn_up_exps = expert_linear ffn_norm, router.chosen, ffn_up_exps.weight [32, 24, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_gate_shexp = linear ffn_norm, ffn_gate_shexp.weight [32, 40]
                    ffn_up_shexp = linear ffn_norm, ffn_up_shexp.weight [32, 40]
                    ffn_act_shexp = activate ffn_gate_shexp, SILU
                    ffn_hidden_shexp = multiply ffn_act_shexp, ffn_up_shexp
                    ffn_down_shexp = linear ffn_hidden_shexp, ffn_down_shexp.weight [40, 32]
                    ffn_gate_inp_shexp = linear ffn_norm, ffn_gate_inp_shexp.weight [32, 1]
                    ffn_gate_act_shexp = activate ffn_gate_inp_shexp, SIGMOID
                    ffn_shared = weighted_sum ffn_down_shexp, ffn_gate_act_shexp
                    ffn_sum = add ffn_moe, ffn_shared
                    ffn_residual = add attn_residual, ffn_sum
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void expertsThatAreNotThereAreRefused() {
        TenonException e = tiny().key("expert_used_count", 7).refusal(architecture());
        assertEquals(ErrorCode.MODEL_KEY_VALUE, e.code());
        assertTrue(e.getMessage().contains("qwen2moe.expert_used_count"), e.getMessage());
    }
}
