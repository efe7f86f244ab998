package dev.tenon.models.granite;

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

class GraniteMoeArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new GraniteMoeArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("granitemoe")
                .key("embedding_scale", 12.0f)
                .key("residual_scale", 0.22f)
                .key("logit_scale", 6.0f)
                .key("attention.scale", 0.1f)
                .key("expert_shared_feed_forward_length", 24)
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_output.weight", 32, 32)
                .each("ffn_norm.weight", 32)
                .each("ffn_gate_inp.weight", 32, 6)
                .each("ffn_gate_exps.weight", 32, 48, 6)
                .each("ffn_up_exps.weight", 32, 48, 6)
                .each("ffn_down_exps.weight", 48, 32, 6)
                .each("ffn_gate_shexp.weight", 32, 24)
                .each("ffn_up_shexp.weight", 32, 24)
                .each("ffn_down_shexp.weight", 24, 32);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("feed_forward_length", "expert_count", "expert_used_count");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().build();
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                embd_scaled = scale embd, factor 12.0
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    q_rope = rope attn_q, INTERLEAVED, base 10000.0, heads of 8
                    k_rope = rope attn_k, INTERLEAVED, base 10000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.1
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual_scaled = scale attn_output, factor 0.22
                    attn_residual = add x, attn_residual_scaled
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear ffn_norm, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2, normalise true
                    ffn_gate_exps = expert_linear ffn_norm, router.chosen, ffn_gate_exps.weight [32, 48, 6]
                    ffn_up_exps = expert_linear ffn_norm, router.chosen, ffn_up_exps.weight [32, 48, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [48, 32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_gate_shexp = linear ffn_norm, ffn_gate_shexp.weight [32, 24]
                    ffn_up_shexp = linear ffn_norm, ffn_up_shexp.weight [32, 24]
                    ffn_act_shexp = activate ffn_gate_shexp, SILU
                    ffn_hidden_shexp = multiply ffn_act_shexp, ffn_up_shexp
                    ffn_down_shexp = linear ffn_hidden_shexp, ffn_down_shexp.weight [24, 32]
                    ffn_both = add ffn_moe, ffn_down_shexp
                    ffn_residual_scaled = scale ffn_both, factor 0.22
                    ffn_residual = add attn_residual, ffn_residual_scaled
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                hidden_scaled = scale output_norm, factor 0.16666667
                logits = linear hidden_scaled, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(tiny().key("logit_scale", 0f), ErrorCode.MODEL_KEY_VALUE, "granitemoe.logit_scale");
    }
}
