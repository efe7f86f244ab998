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

class FalconH1ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new FalconH1Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("falcon-h1")
                .key("ssm.conv_kernel", 4)
                .key("ssm.inner_size", 64)
                .key("ssm.state_size", 16)
                .key("ssm.time_step_rank", 4)
                .key("ssm.group_count", 2)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_output.weight", 32, 32)
                .each("ssm_in.weight", 32, 196)
                .each("ssm_conv1d.weight", 4, 128)
                .each("ssm_conv1d.bias", 128)
                .each("ssm_dt.bias", 4)
                .each("ssm_a", 1, 4)
                .each("ssm_d", 1, 4)
                .each("ssm_out.weight", 64, 32)
                .each("ffn_norm", 32)
                .each("ffn_gate.weight", 32, 48)
                .each("ffn_up.weight", 32, 48)
                .each("ffn_down.weight", 48, 32);
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
        return tiny().beginning().build();
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
                    ssm_out = linear ssm_gated, ssm_out.weight [64, 32]
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    q_rope = rope attn_q, HALF_SPLIT, base 10000.0, heads of 8
                    k_rope = rope attn_k, HALF_SPLIT, base 10000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    ssm_residual = add x, ssm_out
                    attn_residual = add ssm_residual, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual = add attn_residual, ffn_down
                selected = select_rows blk.1.ffn_residual
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
        refused(tiny().key("expert_count", 4), ErrorCode.MODEL_ARCHITECTURE, "falcon-h1.expert_count");
    }

    @Test
    void theResultOfTheScanIsNormedWhereTheFileSaysSo() {
        String listing = GraphListing.of(tiny().each("ssm_norm.weight", 32, 2).graph(architecture()));
        assertTrue(listing.contains("ssm_norm = grouped_rms_norm ssm_gated"), listing);
    }
}
