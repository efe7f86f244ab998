package dev.tenon.models.mistral;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class Mistral3ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Mistral3Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("mistral3")
                .key("rope.scaling.type", "yarn")
                .key("rope.scaling.factor", 16f)
                .key("rope.scaling.original_context_length", 8)
                .key("rope.scaling.yarn_log_multiplier", 1f)
                .key("attention.temperature_scale", 0.25f)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("ffn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_output.weight", 32, 32)
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
        return Set.of("feed_forward_length", "rope.scaling.factor", "rope.scaling.original_context_length");
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
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    q_rope = rope attn_q, INTERLEAVED, base 10000.0, heads of 8, Yarn[factor=16.0, originalContextLength=8, betaFast=32.0, betaSlow=1.0]
                    q_scaled = position_scale q_rope, gain 0.25, offset 0, period 8
                    k_rope = rope attn_k, INTERLEAVED, base 10000.0, heads of 8, Yarn[factor=16.0, originalContextLength=8, betaFast=32.0, betaSlow=1.0]
                    attn = attention q_scaled, k_rope, attn_v, heads 4/2, scale 0.35355338
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
    void withoutATemperatureQueriesStayAsTheyAre() {
        String listing =
                GraphListing.of(tiny().without("attention.temperature_scale").graph(architecture()));
        assertFalse(listing.contains("position_scale"), listing);
        assertTrue(listing.contains("attn = attention q_rope, k_rope, attn_v"), listing);
    }

    @Test
    void aLayerIsFiveFusedOps() {
        Graph graph = tiny().graph(architecture());
        // The embedding, the rows that want logits, their norm and the output matrix are beside the layers.
        assertEquals(2 * 5 + 4, Fusion.fuse(graph, _ -> true).ops().size());
        assertEquals(2 * 6 + 4, Fusion.fuse(graph).ops().size(), "with the scale of the queries as an op");
    }

    @Test
    void expertsAndUnknownScalingsAreRefused() {
        refused(tiny().key("expert_count", 8), ErrorCode.MODEL_ARCHITECTURE, "mistral3.expert_count");
        refused(tiny().key("rope.scaling.type", "other"), ErrorCode.MODEL_ARCHITECTURE, "mistral3.rope.scaling.type");
        refused(tiny().key("attention.head_count_kv", 3), ErrorCode.MODEL_KEY_VALUE, "attention.head_count");
    }
}
