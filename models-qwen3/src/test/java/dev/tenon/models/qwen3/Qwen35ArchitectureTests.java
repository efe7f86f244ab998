package dev.tenon.models.qwen3;

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

class Qwen35ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Qwen35Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("qwen35")
                .key("block_count", 3)
                .key("nextn_predict_layers", 1)
                .key("rope.dimension_sections", new long[] {1, 1, 0, 0})
                .key("rope.dimension_count", 4)
                .key("full_attention_interval", 2)
                .key("ssm.conv_kernel", 4)
                .key("ssm.inner_size", 64)
                .key("ssm.state_size", 16)
                .key("ssm.time_step_rank", 4)
                .key("ssm.group_count", 2)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("blk.0.attn_norm.weight", 32)
                .tensor("blk.0.attn_qkv.weight", 32, 128)
                .tensor("blk.0.attn_gate.weight", 32, 64)
                .tensor("blk.0.ssm_conv1d.weight", 4, 128)
                .tensor("blk.0.ssm_alpha.weight", 32, 4)
                .tensor("blk.0.ssm_beta.weight", 32, 4)
                .tensor("blk.0.ssm_dt.bias", 4)
                .tensor("blk.0.ssm_a", 4)
                .tensor("blk.0.ssm_norm.weight", 16)
                .tensor("blk.0.ssm_out.weight", 64, 32)
                .tensor("blk.0.post_attention_norm.weight", 32)
                .tensor("blk.0.ffn_gate.weight", 32, 48)
                .tensor("blk.0.ffn_up.weight", 32, 48)
                .tensor("blk.0.ffn_down.weight", 48, 32)
                .tensor("blk.1.attn_norm.weight", 32)
                .tensor("blk.1.attn_q.weight", 32, 64)
                .tensor("blk.1.attn_k.weight", 32, 16)
                .tensor("blk.1.attn_v.weight", 32, 16)
                .tensor("blk.1.attn_q_norm.weight", 8)
                .tensor("blk.1.attn_k_norm.weight", 8)
                .tensor("blk.1.attn_output.weight", 32, 32)
                .tensor("blk.1.post_attention_norm.weight", 32)
                .tensor("blk.1.ffn_gate.weight", 32, 48)
                .tensor("blk.1.ffn_up.weight", 32, 48)
                .tensor("blk.1.ffn_down.weight", 48, 32)
                .tensor("blk.2.nextn.eh_proj.weight", 64, 32);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "feed_forward_length",
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
                    attn_qkv = linear attn_norm, attn_qkv.weight [32, 128]
                    ssm_conv1d = short_convolution attn_qkv, ssm_conv1d.weight [4, 128]
                    ssm_conv_act = activate ssm_conv1d, SILU
                    attn_gate = linear attn_norm, attn_gate.weight [32, 64]
                    ssm_beta = linear attn_norm, ssm_beta.weight [32, 4]
                    ssm_alpha = linear attn_norm, ssm_alpha.weight [32, 4]
                    delta = gated_delta_rule ssm_conv_act, ssm_alpha, ssm_beta, ssm_a [4, 1], ssm_dt.bias [4, 1], keyHeads 2, CYCLIC, eps 1.0E-5
                    ssm_norm = rms_norm delta, ssm_norm.weight [16, 1], eps 1.0E-5
                    delta_gate_act = activate attn_gate, SILU
                    delta_gated = multiply ssm_norm, delta_gate_act
                    ssm_out = linear delta_gated, ssm_out.weight [64, 32]
                    residual = add x, ssm_out
                    post_attention_norm = rms_norm residual, post_attention_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear post_attention_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear post_attention_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add residual, ffn_down
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
                    ffn_gate = linear post_attention_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear post_attention_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add residual, ffn_down
                output_norm = rms_norm blk.1.ffn_residual, output_norm.weight [32, 1], eps 1.0E-5
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden_rows=output_norm, hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void sectionsAndSizesThatDoNotFitAreRefused() {
        refused(
                tiny().key("rope.dimension_sections", new long[] {1, 1, 0, 1}),
                ErrorCode.MODEL_ARCHITECTURE,
                "qwen35.rope.dimension_sections");
        refused(tiny().key("ssm.state_size", 8), ErrorCode.MODEL_KEY_VALUE, "qwen35.ssm.inner_size");
        refused(tiny().key("attention.value_length", 4), ErrorCode.MODEL_KEY_VALUE, "attention.value_length");
        refused(tiny().key("expert_count", 4), ErrorCode.MODEL_ARCHITECTURE, "qwen35.expert_count");
    }
}
