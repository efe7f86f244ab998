package dev.tenon.models.gemma;

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

class GemmaEmbeddingArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new GemmaEmbeddingArchitecture();
    }

    @Override
    protected TinySource tiny() {
        return new TinySource("gemma-embedding")
                .key("attention.sliding_window", 5)
                .key("block_count", 6)
                .key("pooling_type", 1)
                .key("dense_2_feat_out", 40)
                .tensor("dense_2.weight", 32, 40)
                .tensor("output_norm.weight", 32)
                .each("attn_norm.weight", 32)
                .each("attn_q.weight", 32, 32)
                .each("attn_k.weight", 32, 16)
                .each("attn_v.weight", 32, 16)
                .each("attn_q_norm.weight", 8)
                .each("attn_k_norm.weight", 8)
                .each("attn_output.weight", 32, 32)
                .each("post_attention_norm.weight", 32)
                .each("ffn_norm.weight", 32)
                .each("ffn_gate.weight", 32, 48)
                .each("ffn_up.weight", 32, 48)
                .each("ffn_down.weight", 48, 32)
                .each("post_ffw_norm.weight", 32);
    }

    @Override
    protected boolean mayBeTied() {
        return false;
    }

    /// Norms stand between the projections and the sums.
    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of("feed_forward_length", "dense_2_feat_out");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning().blockCount(6).ropeFreqBase(1_000_000).build();
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
                embd_scaled = scale embd, factor 5.656854
                blk.0, blk.1, blk.2, blk.3, blk.4
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 10000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338, window 5, causal false
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add x, post_attention_norm
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, GELU_TANH
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                blk.5
                    attn_norm = rms_norm x, attn_norm.weight [32, 1], eps 1.0E-5
                    attn_q = linear attn_norm, attn_q.weight [32, 32]
                    attn_k = linear attn_norm, attn_k.weight [32, 16]
                    attn_v = linear attn_norm, attn_v.weight [32, 16]
                    attn_q_norm = rms_norm attn_q, attn_q_norm.weight [8, 1], eps 1.0E-5
                    q_rope = rope attn_q_norm, HALF_SPLIT, base 1000000.0, heads of 8
                    attn_k_norm = rms_norm attn_k, attn_k_norm.weight [8, 1], eps 1.0E-5
                    k_rope = rope attn_k_norm, HALF_SPLIT, base 1000000.0, heads of 8
                    attn = attention q_rope, k_rope, attn_v, heads 4/2, scale 0.35355338, causal false
                    attn_output = linear attn, attn_output.weight [32, 32]
                    post_attention_norm = rms_norm attn_output, post_attention_norm.weight [32, 1], eps 1.0E-5
                    attn_residual = add x, post_attention_norm
                    ffn_norm = rms_norm attn_residual, ffn_norm.weight [32, 1], eps 1.0E-5
                    ffn_gate = linear ffn_norm, ffn_gate.weight [32, 48]
                    ffn_up = linear ffn_norm, ffn_up.weight [32, 48]
                    ffn_act = activate ffn_gate, GELU_TANH
                    ffn_hidden = multiply ffn_act, ffn_up
                    ffn_down = linear ffn_hidden, ffn_down.weight [48, 32]
                    post_ffw_norm = rms_norm ffn_down, post_ffw_norm.weight [32, 1], eps 1.0E-5
                    ffn_residual = add attn_residual, post_ffw_norm
                output_norm = rms_norm blk.5.ffn_residual, output_norm.weight [32, 1], eps 1.0E-5
                selected = select_rows output_norm
                pooled = pool output_norm, MEAN
                dense_2 = linear pooled, dense_2.weight [32, 40]
                output dense_2, named {hidden=selected, embedding=dense_2}""", GraphListing.of(tiny().graph(architecture())));
    }

    @Test
    void whatIsUnknownOrImpossibleIsRefused() {
        refused(tiny().key("expert_count", 8), ErrorCode.MODEL_ARCHITECTURE, "gemma-embedding.expert_count");
        refused(
                tiny().key("rope.scaling.type", "other"),
                ErrorCode.MODEL_ARCHITECTURE,
                "gemma-embedding.rope.scaling.type");
        refused(tiny().key("attention.head_count_kv", 3), ErrorCode.MODEL_KEY_VALUE, "attention.head_count");
        refused(tiny().key("pooling_type", 2), ErrorCode.MODEL_ARCHITECTURE, "gemma-embedding.pooling_type");
    }
}
