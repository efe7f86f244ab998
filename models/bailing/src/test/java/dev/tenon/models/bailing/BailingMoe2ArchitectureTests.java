package dev.tenon.models.bailing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BailingMoe2ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new BailingMoe2Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("bailingmoe2")
                .key("block_count", 3)
                .key("nextn_predict_layers", 1)
                .key("leading_dense_block_count", 1)
                .key("expert_shared_count", 2)
                .key("expert_feed_forward_length", 24)
                .key("expert_shared_feed_forward_length", 20)
                .key("expert_weights_scale", 2.5f)
                .key("expert_group_count", 3)
                .key("expert_group_used_count", 2)
                .key("rope.dimension_count", 4)
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("blk.0.attn_norm.weight", 32)
                .tensor("blk.0.attn_qkv.weight", 32, 64)
                .tensor("blk.0.attn_q_norm.weight", 8)
                .tensor("blk.0.attn_k_norm.weight", 8)
                .tensor("blk.0.attn_output.weight", 32, 32)
                .tensor("blk.0.ffn_norm.weight", 32)
                .tensor("blk.1.attn_norm.weight", 32)
                .tensor("blk.1.attn_qkv.weight", 32, 64)
                .tensor("blk.1.attn_q_norm.weight", 8)
                .tensor("blk.1.attn_k_norm.weight", 8)
                .tensor("blk.1.attn_output.weight", 32, 32)
                .tensor("blk.1.ffn_norm.weight", 32)
                .tensor("blk.0.ffn_gate.weight", 32, 48)
                .tensor("blk.0.ffn_up.weight", 32, 48)
                .tensor("blk.0.ffn_down.weight", 48, 32)
                .tensor("blk.1.ffn_gate_inp.weight", 32, 6)
                .tensor("blk.1.ffn_gate_exps.weight", 32, 24, 6)
                .tensor("blk.1.ffn_up_exps.weight", 32, 24, 6)
                .tensor("blk.1.ffn_down_exps.weight", 24, 32, 6)
                .tensor("blk.1.exp_probs_b.bias", 6)
                .tensor("blk.1.ffn_gate_shexp.weight", 32, 40)
                .tensor("blk.1.ffn_up_shexp.weight", 32, 40)
                .tensor("blk.1.ffn_down_shexp.weight", 40, 32)
                .tensor("blk.2.nextn.eh_proj.weight", 64, 32);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("expert_feed_forward_length", "expert_count", "expert_used_count", "expert_shared_count");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().ropeDim(4).build();
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_qkv.weight [32, 32] from row 0
                    attn_k = linear attn_norm, attn_qkv.weight [32, 16] from row 32
                    attn_v = linear attn_norm, attn_qkv.weight [32, 16] from row 48
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 10000.0, 4 of heads of 8
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 10000.0, 4 of heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
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
                    attn_q = linear attn_norm, attn_qkv.weight [32, 32] from row 0
                    attn_k = linear attn_norm, attn_qkv.weight [32, 16] from row 32
                    attn_v = linear attn_norm, attn_qkv.weight [32, 16] from row 48
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 10000.0, 4 of heads of 8
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 10000.0, 4 of heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SIGMOID, used 2, normalise true, scale 2.5, \
                groups 3, groups used 2, exp_probs_b.bias [6, 1]
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
                    ffn_both = add ffn_moe, ffn_down_shexp
                    ffn_residual = add attn_residual, ffn_both
                output_norm = rms_norm blk.1.ffn_residual, output_norm.weight [32, 1], eps 1.0E-5
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden_rows=output_norm, hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(tiny().key("expert_group_count", 4), ErrorCode.MODEL_KEY_VALUE, "bailingmoe2.expert_group_count");
    }

    @Test
    void whatTheDraftBlockHoldsIsLeftOverAndNothingElse() {
        ModelSource source = tiny().source();
        assertTrue(architecture().ignores(source, "blk.2.nextn.eh_proj.weight"));
        assertFalse(architecture().ignores(source, "blk.1.attn_norm.weight"));
    }
}
