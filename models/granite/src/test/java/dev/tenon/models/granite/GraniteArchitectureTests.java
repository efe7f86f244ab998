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

class GraniteArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new GraniteArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("granite")
                .key("embedding_scale", 12.0f)
                .key("residual_scale", 0.22f)
                .key("logit_scale", 6.0f)
                .key("attention.scale", 0.1f)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("blk.0.attn_norm.weight", 32)
                .tensor("blk.0.attn_q.weight", 32, 32)
                .tensor("blk.0.attn_k.weight", 32, 16)
                .tensor("blk.0.attn_v.weight", 32, 16)
                .tensor("blk.0.attn_output.weight", 32, 32)
                .tensor("blk.0.ffn_norm.weight", 32)
                .tensor("blk.0.ffn_gate.weight", 32, 48)
                .tensor("blk.0.ffn_up.weight", 32, 48)
                .tensor("blk.0.ffn_down.weight", 48, 32)
                .tensor("blk.1.attn_norm.weight", 32)
                .tensor("blk.1.attn_q.weight", 32, 32)
                .tensor("blk.1.attn_k.weight", 32, 16)
                .tensor("blk.1.attn_v.weight", 32, 16)
                .tensor("blk.1.attn_output.weight", 32, 32)
                .tensor("blk.1.ffn_norm.weight", 32)
                .tensor("blk.1.ffn_gate.weight", 32, 48)
                .tensor("blk.1.ffn_up.weight", 32, 48)
                .tensor("blk.1.ffn_down.weight", 48, 32);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("feed_forward_length");
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
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    ffn_residual_scaled = scale ffn_down, factor 0.22
                    ffn_residual = add attn_residual, ffn_residual_scaled
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                hidden_scaled = scale output_norm, factor 0.16666667
                logits = linear hidden_scaled, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void factorsThatMakeNoSenseAreRefused() {
        refused(tiny().key("logit_scale", 0f), ErrorCode.MODEL_KEY_VALUE, "granite.logit_scale");
        refused(tiny().key("attention.scale", -1f), ErrorCode.MODEL_KEY_VALUE, "granite.attention.scale");
        refused(tiny().key("expert_count", 4), ErrorCode.MODEL_ARCHITECTURE, "granite.expert_count");
    }
}
