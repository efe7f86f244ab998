package dev.tenon.models.phi;

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

class PhiMoeArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new PhiMoeArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("phimoe")
                .key("rope.scaling.original_context_length", 64)
                .key("rope.scaling.attn_factor", 1.19f)
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .tensor("output.weight", 32, 67)
                .tensor("output.bias", 67)
                .tensor("output_norm.weight", 32)
                .tensor("output_norm.bias", 32)
                .tensor("rope_factors_long.weight", 4)
                .tensor("rope_factors_short.weight", 4)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_output.weight", 32, 32)
                .each("attn_norm.bias", 32)
                .each("attn_q.bias", 32)
                .each("attn_k.bias", 16)
                .each("attn_v.bias", 16)
                .each("attn_output.bias", 32)
                .each("ffn_norm.bias", 32)
                .each("ffn_norm.weight", 32)
                .each("ffn_gate_inp.weight", 32, 6)
                .each("ffn_gate_exps.weight", 32, 48, 6)
                .each("ffn_up_exps.weight", 32, 48, 6)
                .each("ffn_down_exps.weight", 48, 32, 6);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "feed_forward_length", "expert_count", "expert_used_count", "rope.scaling.original_context_length");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().build();
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_norm_bias = repeat attn_norm.bias [32, 1]
                    attn_norm_biased = add attn_norm, attn_norm_bias
                    attn_q = linear attn_norm_biased, attn_q.weight [32, 32], attn_q.bias [32, 1]
                    attn_k = linear attn_norm_biased, attn_k.weight [32, 16], attn_k.bias [16, 1]
                    attn_v = linear attn_norm_biased, attn_v.weight [32, 16], attn_v.bias [16, 1]
                    q_rope = rope attn_q, HALF_SPLIT, base 10000.0, heads of 8, rope_factors_long.weight [4, 1], \
                attention factor 1.19
                    k_rope = rope attn_k, HALF_SPLIT, base 10000.0, heads of 8, rope_factors_long.weight [4, 1], \
                attention factor 1.19
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32], attn_output.bias [32, 1]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_norm_bias = repeat ffn_norm.bias [32, 1]
                    ffn_norm_biased = add ffn_norm, ffn_norm_bias
                    ffn_gate_inp = linear ffn_norm_biased, ffn_gate_inp.weight [32, 6]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2, normalise true
                    ffn_gate_exps = expert_linear ffn_norm_biased, router.chosen, ffn_gate_exps.weight [32, 48, 6]
                    ffn_up_exps = expert_linear ffn_norm_biased, router.chosen, ffn_up_exps.weight [32, 48, 6]
                    ffn_act_exps = activate ffn_gate_exps, SILU
                    ffn_hidden_exps = multiply ffn_act_exps, ffn_up_exps
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [48, 32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_residual = add attn_residual, ffn_moe
                output_norm = rms_norm blk.1.ffn_residual, output_norm.weight [32, 1], eps 1.0E-5
                output_norm_bias = repeat output_norm.bias [32, 1]
                output_norm_biased = add output_norm, output_norm_bias
                selected = select_rows output_norm_biased
                logits = linear selected, output.weight [32, 67], output.bias [67, 1]
                output logits, named {hidden=selected}""", GraphListing.of(tiny().graph(architecture())));
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(tiny().key("rope.scaling.type", "other"), ErrorCode.MODEL_ARCHITECTURE, "phimoe.rope.scaling.type");
    }

    @Test
    void whatFactorsOfTheOtherLengthIsLeftOverAndNothingElse() {
        ModelSource source = tiny().source();
        assertTrue(architecture().ignores(source, "rope_factors_short.weight"));
        assertFalse(architecture().ignores(source, "output.bias"));
    }

    @Test
    void theContextChoosesTheFactors() {
        assertTrue(GraphListing.of(tiny().context(64).graph(architecture())).contains("rope_factors_short.weight"));
    }
}
