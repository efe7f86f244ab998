package dev.tenon.models.dense;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HunyuanMoeArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new HunyuanMoeArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("hunyuan-moe")
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .key("expert_feed_forward_length", 24)
                .key("expert_shared_feed_forward_length", 40)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_output.weight", 32, 32)
                .each("attn_q_norm.weight", 8)
                .each("attn_k_norm.weight", 8)
                .each("ffn_norm.weight", 32)
                .each("ffn_gate_inp.weight", 32, 6)
                .each("ffn_gate_exps.weight", 32, 24, 6)
                .each("ffn_up_exps.weight", 32, 24, 6)
                .each("ffn_down_exps.weight", 24, 32, 6)
                .each("ffn_gate_shexp.weight", 32, 40)
                .each("ffn_up_shexp.weight", 32, 40)
                .each("ffn_down_shexp.weight", 40, 32);
    }

    /// Norms follow the rotation.
    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("expert_count", "expert_used_count", "expert_feed_forward_length");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().build();
    }

    @Test
    void theGraphIsThatOfThePublishedModel() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    q_rope = rope attn_q, HALF_SPLIT, base 10000.0, heads of 8
                    attn_q_norm = rms_norm q_rope, attn_q_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k, HALF_SPLIT, base 10000.0, heads of 8
                    attn_k_norm = rms_norm k_rope, attn_k_norm.weight [8, 1], eps 1.0E-5
                    attn = attention attn_q_norm, attn_k_norm, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2, normalise true
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
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void aSharedExpertWithoutAWidthIsAsWideAsTheFeedForwardLayer() {
        String listing = GraphListing.of(
                tiny().without("expert_shared_feed_forward_length").graph(architecture()));
        assertTrue(listing.contains("ffn_up_shexp.weight [32, 48]"), listing);
    }
}
