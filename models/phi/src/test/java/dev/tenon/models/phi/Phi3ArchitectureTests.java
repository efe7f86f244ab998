package dev.tenon.models.phi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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

class Phi3ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Phi3Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("phi3")
                .key("rope.dimension_count", 6)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("ffn_norm.weight", 32)
                .each("attn_output.weight", 32, 32)
                .each("ffn_down.weight", 48, 32)
                .each("attn_qkv.weight", 32, 64)
                .each("ffn_up.weight", 32, 96);
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("feed_forward_length");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().ropeDim(6).build();
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
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_qkv.weight [32, 32] from row 0
                    attn_k = linear attn_norm, attn_qkv.weight [32, 16] from row 32
                    attn_v = linear attn_norm, attn_qkv.weight [32, 16] from row 48
                    q_rope = rope attn_q, HALF_SPLIT, base 10000.0, 6 of heads of 8
                    k_rope = rope attn_k, HALF_SPLIT, base 10000.0, 6 of heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    attn_residual = add x, attn_output
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_up.weight [32, 48] from row 0
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48] from row 48
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
    void theFactorsOfTheRotationAreThoseOfTheContext() {
        TinySource tiny = tiny().tensor("rope_factors_long.weight", 3)
                .tensor("rope_factors_short.weight", 3)
                .key("rope.scaling.original_context_length", 64)
                .key("rope.scaling.attn_factor", 1.19f);
        String rope = "q_rope = rope attn_q, HALF_SPLIT, base 10000.0, 6 of heads of 8, rope_factors_%s.weight [3, 1],"
                + " attention factor 1.19\n";
        String listing = GraphListing.of(tiny.graph(architecture()));
        assertTrue(listing.contains(rope.formatted("long")), listing);
        listing = GraphListing.of(tiny.context(64).graph(architecture()));
        assertTrue(listing.contains(rope.formatted("short")), listing);
        for (String length : new String[] {"long", "short"}) {
            assertTrue(architecture().ignores(tiny.source(), "rope_factors_" + length + ".weight"));
        }
        assertFalse(architecture().ignores(tiny.source(), "rope_freqs.weight"));
    }

    @Test
    void expertsAndUnknownScalingsAreRefused() {
        refused(tiny().key("expert_count", 8), ErrorCode.MODEL_ARCHITECTURE, "phi3.expert_count");
        refused(tiny().key("rope.scaling.type", "other"), ErrorCode.MODEL_ARCHITECTURE, "phi3.rope.scaling.type");
        refused(tiny().key("attention.head_count_kv", 3), ErrorCode.MODEL_KEY_VALUE, "attention.head_count");
    }
}
