package dev.tenon.models.minimax;

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

class MiniMaxM2ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new MiniMaxM2Architecture();
    }

    @Override
    protected TinySource tiny() {
        TinySource tiny = new TinySource("minimax-m2")
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .key("expert_feed_forward_length", 24)
                .key("rope.dimension_count", 4)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32);
        for (String blk : new String[] {"blk.0.", "blk.1."}) {
            tiny.tensor(blk + "attn_norm.weight", 32)
                    .tensor(blk + "attn_q.weight", 32, 32)
                    .tensor(blk + "attn_k.weight", 32, 16)
                    .tensor(blk + "attn_v.weight", 32, 16)
                    .tensor(blk + "attn_output.weight", 32, 32)
                    .tensor(blk + "attn_q_norm.weight", 32)
                    .tensor(blk + "attn_k_norm.weight", 16)
                    .tensor(blk + "ffn_norm.weight", 32)
                    .tensor(blk + "exp_probs_b.bias", 6)
                    .tensor(blk + "ffn_gate_inp.weight", 32, 6)
                    .tensor(blk + "ffn_gate_exps.weight", 32, 24, 6)
                    .tensor(blk + "ffn_up_exps.weight", 32, 24, 6)
                    .tensor(blk + "ffn_down_exps.weight", 24, 32, 6);
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
        return tiny().beginning().ropeFreqBase(5_000_000).ropeDim(4).build();
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
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [32, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 5000000.0, 4 of heads of 8
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [16, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 5000000.0, 4 of heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SIGMOID, used 2, normalise true, \
                exp_probs_b.bias [6, 1]
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
    void expertsThatAreNotThereAreRefused() {
        refused(tiny().without("expert_count"), ErrorCode.MODEL_KEY_MISSING, "minimax-m2.expert_count");
        refused(tiny().key("expert_used_count", 7), ErrorCode.MODEL_KEY_VALUE, "minimax-m2.expert_used_count");
        refused(tiny().key("expert_gating_func", 9), ErrorCode.MODEL_ARCHITECTURE, "minimax-m2.expert_gating_func");
    }
}
