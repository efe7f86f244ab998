package dev.tenon.models.dense;

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

class HunyuanDenseArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new HunyuanDenseArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("hunyuan-dense")
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
                .each("ffn_gate.weight", 32, 48)
                .each("ffn_up.weight", 32, 48)
                .each("ffn_down.weight", 48, 32);
    }

    /// Norms follow the rotation.
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

    private void refused(TinySource tiny, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(ErrorCode.MODEL_ARCHITECTURE, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    @Test
    void theGraphIsThatOfThePaper() {
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

    @Test
    void alphaStretchesTheBaseOfFrequencies() {
        ModelConfig config = tiny().key("rope.scaling.alpha", 1000f).config(architecture());
        assertEquals(10_000 * Math.pow(1000, 8.0 / 6), config.ropeFreqBase(), 1);
    }

    @Test
    void expertsAndUnknownScalingsAreRefused() {
        refused(tiny().key("expert_count", 8), "hunyuan-dense.expert_count");
        refused(tiny().key("rope.scaling.type", "other"), "hunyuan-dense.rope.scaling.type");
    }
}
