package dev.tenon.models.gpt.oss;

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

class GptOssArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new GptOssArchitecture();
    }

    @Override
    protected TinySource tiny() {
        TinySource tiny = new TinySource("gpt-oss")
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .key("expert_feed_forward_length", 24)
                .key("attention.sliding_window", 16)
                .key("rope.scaling.type", "yarn")
                .key("rope.scaling.factor", 4f)
                .key("rope.scaling.original_context_length", 32)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32);
        for (String blk : new String[] {"blk.0.", "blk.1."}) {
            tiny.tensor(blk + "attn_norm.weight", 32)
                    .tensor(blk + "attn_q.weight", 32, 32)
                    .tensor(blk + "attn_k.weight", 32, 16)
                    .tensor(blk + "attn_v.weight", 32, 16)
                    .tensor(blk + "attn_output.weight", 32, 32)
                    .tensor(blk + "post_attention_norm.weight", 32)
                    .tensor(blk + "ffn_gate_inp.weight", 32, 6)
                    .tensor(blk + "ffn_gate_exps.weight", 32, 24, 6)
                    .tensor(blk + "ffn_up_exps.weight", 32, 24, 6)
                    .tensor(blk + "ffn_down_exps.weight", 24, 32, 6)
                    .tensor(blk + "attn_q.bias", 32)
                    .tensor(blk + "attn_k.bias", 16)
                    .tensor(blk + "attn_v.bias", 16)
                    .tensor(blk + "attn_output.bias", 32)
                    .tensor(blk + "attn_sinks.weight", 4)
                    .tensor(blk + "ffn_gate_inp.bias", 6)
                    .tensor(blk + "ffn_gate_exps.bias", 24, 6)
                    .tensor(blk + "ffn_up_exps.bias", 24, 6)
                    .tensor(blk + "ffn_down_exps.bias", 32, 6);
        }
        return tiny;
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("expert_feed_forward_length", "expert_count", "expert_used_count", "attention.sliding_window");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().ropeFreqBase(150_000).build();
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
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32], attn_q.bias [32, 1]
                    attn_k = linear attn_norm, attn_k.weight [32, 16], attn_k.bias [16, 1]
                    attn_v = linear attn_norm, attn_v.weight [32, 16], attn_v.bias [16, 1]
                    q_rope = rope attn_q, HALF_SPLIT, base 150000.0, heads of 8, Yarn[factor=4.0, \
                originalContextLength=32, betaFast=32.0, betaSlow=1.0], attention factor 1.1386294
                    k_rope = rope attn_k, HALF_SPLIT, base 150000.0, heads of 8, Yarn[factor=4.0, \
                originalContextLength=32, betaFast=32.0, betaSlow=1.0], attention factor 1.1386294
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338, window 16, \
                attn_sinks.weight [4, 1]
                    attn_output = linear attn, attn_output.weight [32, 32], attn_output.bias [32, 1]
                    attn_residual = add x, attn_output
                    post_attention_norm = rms_norm attn_residual, post_attention_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear post_attention_norm, ffn_gate_inp.weight [32, 6], ffn_gate_inp.bias [6, 1]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2, normalise true
                    ffn_gate_exps = expert_linear post_attention_norm, router.chosen, ffn_gate_exps.weight [32, 24, \
                6], ffn_gate_exps.bias [24, 6]
                    ffn_up_exps = expert_linear post_attention_norm, router.chosen, ffn_up_exps.weight [32, 24, 6], \
                ffn_up_exps.bias [24, 6]
                    ffn_hidden_exps = swiglu_oai ffn_gate_exps, ffn_up_exps, alpha 1.702, limit 7.0, offset 1.0
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6], \
                ffn_down_exps.bias [32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_residual = add attn_residual, ffn_moe
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32], attn_q.bias [32, 1]
                    attn_k = linear attn_norm, attn_k.weight [32, 16], attn_k.bias [16, 1]
                    attn_v = linear attn_norm, attn_v.weight [32, 16], attn_v.bias [16, 1]
                    q_rope = rope attn_q, HALF_SPLIT, base 150000.0, heads of 8, Yarn[factor=4.0, \
                originalContextLength=32, betaFast=32.0, betaSlow=1.0], attention factor 1.1386294
                    k_rope = rope attn_k, HALF_SPLIT, base 150000.0, heads of 8, Yarn[factor=4.0, \
                originalContextLength=32, betaFast=32.0, betaSlow=1.0], attention factor 1.1386294
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338, attn_sinks.weight [4, 1]
                    attn_output = linear attn, attn_output.weight [32, 32], attn_output.bias [32, 1]
                    attn_residual = add x, attn_output
                    post_attention_norm = rms_norm attn_residual, post_attention_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate_inp = linear post_attention_norm, ffn_gate_inp.weight [32, 6], ffn_gate_inp.bias [6, 1]
                    router.chosen, router.shares = router ffn_gate_inp, SOFTMAX, used 2, normalise true
                    ffn_gate_exps = expert_linear post_attention_norm, router.chosen, ffn_gate_exps.weight [32, 24, \
                6], ffn_gate_exps.bias [24, 6]
                    ffn_up_exps = expert_linear post_attention_norm, router.chosen, ffn_up_exps.weight [32, 24, 6], \
                ffn_up_exps.bias [24, 6]
                    ffn_hidden_exps = swiglu_oai ffn_gate_exps, ffn_up_exps, alpha 1.702, limit 7.0, offset 1.0
                    ffn_down_exps = expert_linear ffn_hidden_exps, router.chosen, ffn_down_exps.weight [24, 32, 6], \
                ffn_down_exps.bias [32, 6]
                    ffn_moe = weighted_sum ffn_down_exps, router.shares
                    ffn_residual = add attn_residual, ffn_moe
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void expertsThatAreNotThereAreRefused() {
        refused(tiny().without("expert_count"), ErrorCode.MODEL_KEY_MISSING, "gpt-oss.expert_count");
        refused(tiny().key("expert_used_count", 7), ErrorCode.MODEL_KEY_VALUE, "gpt-oss.expert_used_count");
        refused(tiny().key("expert_gating_func", 9), ErrorCode.MODEL_ARCHITECTURE, "gpt-oss.expert_gating_func");
    }
}
