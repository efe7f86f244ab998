package dev.tenon.models.glm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelSource;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.GraphListing;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class Glm4ArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new Glm4Architecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("glm4")
                .key("rope.dimension_count", 4)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_q.bias", 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_k.bias", 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_v.bias", 16)
                .each("attn_output.weight", 32, 32)
                .each("post_attention_norm.weight", 32)
                .each("ffn_norm.weight", 32)
                .each("ffn_up.weight", 32, 96)
                .each("ffn_down.weight", 48, 32)
                .each("post_ffw_norm.weight", 32);
    }

    /// Norms stand between the projections and the sums.
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
        return tiny().beginning().ropeDim(4).build();
    }

    @Test
    void theGraphIsThatOfThePaper() {
        assertEquals("""
                embd = embedding token_embd.weight [32, 67]
                blk.0, blk.1
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32], attn_q.bias [32, 1]
                    attn_k = linear attn_norm, attn_k.weight [32, 16], attn_k.bias [16, 1]
                    attn_v = linear attn_norm, attn_v.weight [32, 16], attn_v.bias [16, 1]
                    q_rope = rope attn_q, INTERLEAVED, base 10000.0, 4 of heads of 8
                    k_rope = rope attn_k, INTERLEAVED, base 10000.0, 4 of heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add x, post_attention_norm
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_up.weight [32, 48] from row 0
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48] from row 48
                    ffn_act = activate ffn_gate, SILU
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                selected = select_rows blk.1.ffn_residual
                output_norm = rms_norm selected, output_norm.weight [32, 1], eps 1.0E-5
                logits = linear output_norm, output.weight [32, 67]
                output logits, named {hidden=output_norm}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void expertsAreRefused() {
        refused(tiny().key("expert_count", 8), "glm4.expert_count");
    }

    @Test
    void modelsWithSectionsOfPicturesRotateHalves() {
        Graph graph =
                tiny().key("rope.dimension_sections", new long[] {2, 2, 0, 0}).graph(architecture());
        assertEquals(
                Set.of(Pairing.HALF_SPLIT),
                graph.ops().stream()
                        .filter(CoreOp.Rope.class::isInstance)
                        .map(op -> ((CoreOp.Rope) op).params().pairing())
                        .collect(Collectors.toSet()));
    }

    private void refused(TinySource tiny, String key) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(ErrorCode.MODEL_ARCHITECTURE, e.code());
        assertTrue(e.getMessage().contains(key), e.getMessage());
    }

    @Test
    void theDraftBlockIsLeftOverAndNothingElse() {
        ModelSource source = tiny().key("nextn_predict_layers", 1).source();
        assertTrue(architecture().ignores(source, "blk.1.nextn.eh_proj.weight"));
        assertFalse(architecture().ignores(source, "blk.0.attn_output.bias"));
    }
}
