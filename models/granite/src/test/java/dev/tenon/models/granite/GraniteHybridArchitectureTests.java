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

class GraniteHybridArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new GraniteHybridArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("granitehybrid")
                .key("embedding_scale", 12.0f)
                .key("residual_scale", 0.22f)
                .key("logit_scale", 6.0f)
                .key("attention.scale", 0.1f)
                .key("ssm.conv_kernel", 4)
                .key("ssm.inner_size", 64)
                .key("ssm.state_size", 16)
                .key("ssm.time_step_rank", 4)
                .key("ssm.group_count", 2)
                .key("attention.head_count_kv", new long[] {0, 2})
                .key("rope.scaling.finetuned", false)
                .key("expert_count", 6)
                .key("expert_used_count", 2)
                .key("expert_shared_feed_forward_length", 24)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("blk.0.attn_norm.weight", 32)
                .tensor("blk.0.ssm_in.weight", 32, 196)
                .tensor("blk.0.ssm_conv1d.weight", 4, 128)
                .tensor("blk.0.ssm_conv1d.bias", 128)
                .tensor("blk.0.ssm_dt.bias", 4)
                .tensor("blk.0.ssm_a", 1, 4)
                .tensor("blk.0.ssm_d", 1, 4)
                .tensor("blk.0.ssm_norm.weight", 32, 2)
                .tensor("blk.0.ssm_out.weight", 64, 32)
                .tensor("blk.0.ffn_norm.weight", 32)
                .tensor("blk.0.ffn_gate_inp.weight", 32, 6)
                .tensor("blk.0.ffn_gate_exps.weight", 32, 48, 6)
                .tensor("blk.0.ffn_up_exps.weight", 32, 48, 6)
                .tensor("blk.0.ffn_down_exps.weight", 48, 32, 6)
                .tensor("blk.0.ffn_gate_shexp.weight", 32, 24)
                .tensor("blk.0.ffn_up_shexp.weight", 32, 24)
                .tensor("blk.0.ffn_down_shexp.weight", 24, 32)
                .tensor("blk.1.attn_norm.weight", 32)
                .tensor("blk.1.attn_q.weight", 32, 32)
                .tensor("blk.1.attn_k.weight", 32, 16)
                .tensor("blk.1.attn_v.weight", 32, 16)
                .tensor("blk.1.attn_output.weight", 32, 32)
                .tensor("blk.1.ffn_norm.weight", 32)
                .tensor("blk.1.ffn_gate_inp.weight", 32, 6)
                .tensor("blk.1.ffn_gate_exps.weight", 32, 48, 6)
                .tensor("blk.1.ffn_up_exps.weight", 32, 48, 6)
                .tensor("blk.1.ffn_down_exps.weight", 48, 32, 6)
                .tensor("blk.1.ffn_gate_shexp.weight", 32, 24)
                .tensor("blk.1.ffn_up_shexp.weight", 32, 24)
                .tensor("blk.1.ffn_down_shexp.weight", 24, 32);
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
        return tiny().beginning().build();
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
                embd_scaled = scale embd, factor 12.0
                blk.0
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    ssm_gate = linear attn_norm, ssm_in.weight [32, 64] from row 0
                    ssm_xbc = linear attn_norm, ssm_in.weight [32, 128] from row 64
                    ssm_step = linear attn_norm, ssm_in.weight [32, 4] from row 192
                    ssm_conv1d = short_convolution ssm_xbc, ssm_conv1d.weight [4, 128], ssm_conv1d.bias [128, 1]
                    ssm_conv_act = activate ssm_conv1d, SILU
                    ssm_scan = selective_scan ssm_conv_act, ssm_step, ssm_a [1, 4], ssm_d [1, 4], ssm_dt.bias [4, 1], groups 2
                    ssm_gate_act = activate ssm_gate, SILU
                    ssm_gated = multiply ssm_scan, ssm_gate_act
                    ssm_norm = grouped_rms_norm ssm_gated, ssm_norm.weight [32, 2], eps 1.0E-5
                    ssm_out = linear ssm_norm, ssm_out.weight [64, 32]
                    residual_scaled = scale ssm_out, factor 0.22
                    residual = add x, residual_scaled
                    ffn_norm = rms_norm residual, ffn_norm.weight [32, 1], eps 1.0E-5
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
                    ffn_residual = add residual, ffn_residual_scaled
                blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn = attention attn_q, attn_k, attn_v, layer 0, heads 4/2, scale 0.1
                    attn_output = linear attn, attn_output.weight [32, 32]
                    residual_scaled = scale attn_output, factor 0.22
                    residual = add x, residual_scaled
                    ffn_norm = rms_norm residual, ffn_norm.weight [32, 1], eps 1.0E-5
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
                    ffn_residual = add residual, ffn_residual_scaled
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                hidden_scaled = scale output_norm, factor 0.16666667
                logits = linear hidden_scaled, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void withoutExpertsEachLayerIsDense() {
        String listing = GraphListing.of(tiny().key("expert_count", 0)
                .tensor("blk.0.ffn_gate.weight", 32, 48)
                .tensor("blk.1.ffn_gate.weight", 32, 48)
                .graph(architecture()));
        assertTrue(listing.contains("ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]"), listing);
        assertTrue(!listing.contains("router"), listing);
    }

    @Test
    void positionsAreRotatedWhereTheFileDoesNotSayOtherwise() {
        String listing =
                GraphListing.of(tiny().without("rope.scaling.finetuned").graph(architecture()));
        assertTrue(listing.contains("q_rope = rope attn_q, INTERLEAVED"), listing);
    }

    @Test
    void statesThatDoNotFitAreRefused() {
        refused(tiny().key("ssm.group_count", 3), ErrorCode.MODEL_KEY_VALUE, "granitehybrid.ssm.group_count");
        refused(tiny().key("ssm.time_step_rank", 5), ErrorCode.MODEL_KEY_VALUE, "granitehybrid.ssm.time_step_rank");
        refused(tiny().key("ssm.state_size", 1 << 24), ErrorCode.MODEL_KEY_VALUE, "granitehybrid.ssm.state_size");
    }
}
