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

class ApertusArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new ApertusArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("apertus")
                .general("xielu.alpha_p", new float[] {0, 0})
                .general("xielu.alpha_n", new float[] {0, 0})
                .general("xielu.beta", new float[] {0.5f, 0.5f})
                .general("xielu.eps", new float[] {-1e-6f, -1e-6f})
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
                .each("ffn_up.weight", 32, 48)
                .each("ffn_down.weight", 48, 32);
    }

    /// xIELU is an op of its own.
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

    /// `softplus(0)` is `ln 2`.
    @Test
    void theGraphIsThatOfThePublishedModel() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = xielu ffn_up, alphaP 0.6931472, alphaN 1.1931472, beta 0.5, eps -1.0E-6
                    ffn_down = linear ffn_act, ffn_down.weight [48, 32]
                    ffn_residual = add attn_residual, ffn_down
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void eachLayerHasNumbersOfItsOwn() {
        TinySource source = tiny().general("xielu.beta", new float[] {0.5f, 0.25f});
        String listing = GraphListing.of(source.graph(architecture()));
        assertTrue(listing.contains("alphaP 0.6931472, alphaN 0.9431472, beta 0.25, eps -1.0E-6"), listing);
    }

    @Test
    void numbersOfTheActivationThatAreMissingOrImpossibleAreNamed() {
        refused(tiny().general("xielu.beta", new float[] {0.5f}), "xielu.beta", ErrorCode.MODEL_KEY_VALUE);
        refused(tiny().general("xielu.eps", new float[] {0, Float.NaN}), "xielu.eps", ErrorCode.MODEL_KEY_VALUE);
        refused(tiny().general("xielu.alpha_n", 0.5f), "xielu.alpha_n", ErrorCode.MODEL_KEY_VALUE);
        refused(new TinySource("apertus"), "xielu.alpha_p", ErrorCode.MODEL_KEY_MISSING);
    }

    private void refused(TinySource source, String key, String code) {
        TenonException e = source.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(key), e.getMessage());
    }
}
