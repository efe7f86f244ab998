package dev.tenon.models.recurrent;

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

class Mamba2ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Mamba2Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("mamba2")
                .without("attention.head_count")
                .without("attention.head_count_kv")
                .without("feed_forward_length")
                .key("ssm.conv_kernel", 4)
                .key("ssm.inner_size", 64)
                .key("ssm.state_size", 16)
                .key("ssm.time_step_rank", 4)
                .key("ssm.group_count", 2)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("ssm_in.weight", 32, 196)
                .each("ssm_conv1d.weight", 4, 128)
                .each("ssm_conv1d.bias", 128)
                .each("ssm_dt.bias", 4)
                .each("ssm_a", 1, 4)
                .each("ssm_d", 1, 4)
                .each("ssm_norm.weight", 32, 2)
                .each("ssm_out.weight", 64, 32);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("ssm.conv_kernel", "ssm.inner_size", "ssm.state_size", "ssm.time_step_rank", "ssm.group_count");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return ModelConfig.builder("mamba2")
                .contextLength(128)
                .embeddingLength(32)
                .blockCount(2)
                .vocabularySize(67)
                .build();
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0, blk.1
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
                selected = select_rows blk.1.residual
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
        refused(tiny().key("ssm.time_step_rank", 5), ErrorCode.MODEL_KEY_VALUE, "mamba2.ssm.time_step_rank");
    }
}
