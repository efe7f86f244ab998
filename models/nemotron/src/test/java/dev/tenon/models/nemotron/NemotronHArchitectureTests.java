package dev.tenon.models.nemotron;

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

class NemotronHArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new NemotronHArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("nemotron_h")
                .key("block_count", 4)
                .key("feed_forward_length", new long[] {0, 48, 0, 24})
                .key("attention.head_count_kv", new long[] {0, 0, 2, 0})
                .key("ssm.conv_kernel", 4)
                .key("ssm.inner_size", 64)
                .key("ssm.state_size", 16)
                .key("ssm.time_step_rank", 4)
                .key("ssm.group_count", 2)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .tensor("blk.0.ssm_in.weight", 32, 196)
                .tensor("blk.0.ssm_conv1d.weight", 4, 128)
                .tensor("blk.0.ssm_conv1d.bias", 128)
                .tensor("blk.0.ssm_dt.bias", 4)
                .tensor("blk.0.ssm_a", 1, 4)
                .tensor("blk.0.ssm_d", 1, 4)
                .tensor("blk.0.ssm_norm.weight", 32, 2)
                .tensor("blk.0.ssm_out.weight", 64, 32)
                .tensor("blk.1.ffn_up.weight", 32, 48)
                .tensor("blk.1.ffn_down.weight", 48, 32)
                .tensor("blk.2.attn_q.weight", 32, 32)
                .tensor("blk.2.attn_k.weight", 32, 16)
                .tensor("blk.2.attn_v.weight", 32, 16)
                .tensor("blk.2.attn_output.weight", 32, 32)
                .tensor("blk.3.ffn_up.weight", 32, 24)
                .tensor("blk.3.ffn_down.weight", 24, 32);
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
                "ssm.conv_kernel",
                "ssm.inner_size",
                "ssm.state_size",
                "ssm.time_step_rank",
                "ssm.group_count");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().blockCount(4).build();
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    ssm_gate = linear attn_norm, ssm_in.weight [32, 64] from row 0
                    ssm_xbc = linear attn_norm, ssm_in.weight [32, 128] from row 64
                    ssm_step = linear attn_norm, ssm_in.weight [32, 4] from row 192
                    ssm_conv1d = short_convolution ssm_xbc, ssm_conv1d.weight [4, 128], ssm_conv1d.bias [128, 1]
                    ssm_conv_act = activate ssm_conv1d, SILU
                    ssm_scan = selective_scan ssm_conv_act, ssm_step, ssm_a [1, 4], ssm_d [1, 4], ssm_dt.bias [4, 1], \
                groups 2
                    ssm_gate_act = activate ssm_gate, SILU
                    ssm_gated = multiply ssm_scan, ssm_gate_act
                    ssm_norm = grouped_rms_norm ssm_gated, ssm_norm.weight [32, 2], eps 1.0E-5
                    ssm_out = linear ssm_norm, ssm_out.weight [64, 32]
                    residual = add x, ssm_out
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    ffn_up = linear attn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_up, RELU_SQUARED
                    ffn_down = linear ffn_act, ffn_down.weight [48, 32]
                    residual = add x, ffn_down
                blk.2
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn = attention attn_q, attn_k, attn_v, layer 0, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    residual = add x, attn_output
                blk.3
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    ffn_up = linear attn_norm, ffn_up.weight [32, 24]
                    ffn_act = activate ffn_up, RELU_SQUARED
                    ffn_down = linear ffn_act, ffn_down.weight [24, 32]
                    residual = add x, ffn_down
                selected = select_rows blk.3.residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(tiny().key("ssm.group_count", 3), ErrorCode.MODEL_KEY_VALUE, "nemotron_h.ssm.group_count");
    }
}
