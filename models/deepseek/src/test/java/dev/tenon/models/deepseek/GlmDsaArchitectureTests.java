package dev.tenon.models.deepseek;

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

class GlmDsaArchitectureTests extends TinyArchitectureContract {
    @Override
    protected ModelArchitecture architecture() {
        return new GlmDsaArchitecture();
    }

    @Override
    protected TinySource tiny() {
        TinySource tiny = new TinySource("glm-dsa")
                .key("attention.head_count_kv", 1)
                .key("attention.q_lora_rank", 20)
                .key("attention.kv_lora_rank", 12)
                .key("attention.key_length", 16)
                .key("attention.value_length", 12)
                .key("attention.key_length_mla", 10)
                .key("attention.value_length_mla", 8)
                .key("attention.indexer.head_count", 3)
                .key("attention.indexer.key_length", 8)
                .key("attention.indexer.top_k", 5)
                .key("attention.indexer.types", new long[] {1, 0})
                .key("rope.dimension_count", 4)
                .key("leading_dense_block_count", 1)
                .key("expert_count", 8)
                .key("expert_used_count", 3)
                .key("expert_shared_count", 2)
                .key("expert_feed_forward_length", 24)
                .key("expert_weights_scale", 2.5f)
                .key("expert_weights_norm", true)
                .key("expert_gating_func", 2)
                .tensor("output.weight", 32, 67)
                .tensor("output_norm.weight", 32)
                .tensor("blk.0.ffn_gate.weight", 32, 48)
                .tensor("blk.0.ffn_up.weight", 32, 48)
                .tensor("blk.0.ffn_down.weight", 48, 32)
                .tensor("blk.1.ffn_gate_inp.weight", 32, 8)
                .tensor("blk.1.exp_probs_b.bias", 8)
                .tensor("blk.1.ffn_gate_exps.weight", 32, 24, 8)
                .tensor("blk.1.ffn_up_exps.weight", 32, 24, 8)
                .tensor("blk.1.ffn_down_exps.weight", 24, 32, 8)
                .tensor("blk.1.ffn_gate_shexp.weight", 32, 48)
                .tensor("blk.1.ffn_up_shexp.weight", 32, 48)
                .tensor("blk.1.ffn_down_shexp.weight", 48, 32)
                .each("attn_norm.weight", 32)
                .each("attn_q_a.weight", 32, 20)
                .each("attn_q_a_norm.weight", 20)
                .each("attn_q_b.weight", 20, 40)
                .each("attn_kv_a_mqa.weight", 32, 16)
                .each("attn_kv_a_norm.weight", 12)
                .each("attn_k_b.weight", 6, 12, 4)
                .each("attn_v_b.weight", 12, 8, 4)
                .each("attn_output.weight", 32, 32)
                .each("ffn_norm.weight", 32);
        index(tiny, "blk.0.");
        return tiny;
    }

    private static void index(TinySource tiny, String blk) {
        tiny.tensor(blk + "indexer.attn_q_b.weight", 20, 24)
                .tensor(blk + "indexer.attn_k.weight", 32, 8)
                .tensor(blk + "indexer.k_norm.weight", 8)
                .tensor(blk + "indexer.k_norm.bias", 8)
                .tensor(blk + "indexer.proj.weight", 32, 3);
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return Set.of(
                "attention.head_count_kv",
                "attention.q_lora_rank",
                "attention.kv_lora_rank",
                "attention.key_length",
                "attention.value_length",
                "attention.key_length_mla",
                "attention.value_length_mla",
                "attention.indexer.head_count",
                "attention.indexer.key_length",
                "attention.indexer.top_k",
                "expert_feed_forward_length",
                "expert_count",
                "expert_used_count",
                "expert_shared_count");
    }

    @Override
    protected ModelConfig expectedConfig() {
        return tiny().beginning()
                .headCountKv(1)
                .keyLength(16)
                .valueLength(12)
                .ropeDim(4)
                .build();
    }

    /// Both kinds of keys are rotated in neighbouring pairs; the second layer takes the positions of the first.
    @Test
    void aLayerAttendsToThePositionsOfTheLastIndex() {
        String listing = GraphListing.of(tiny().graph(architecture()));
        holds(listing, """
                    indexer.attn_q_b = linear attn_q_a_norm, indexer.attn_q_b.weight [20, 24]
                    indexer.attn_k = linear attn_norm, indexer.attn_k.weight [32, 8]
                    indexer.k_norm = layer_norm indexer.attn_k, indexer.k_norm.weight [8, 1], indexer.k_norm.bias [8, 1], \
                eps 1.0E-6
                    indexer.proj = linear attn_norm, indexer.proj.weight [32, 3]
                    indexer.q_rope = rope indexer.attn_q_b, INTERLEAVED, base 10000.0, 4 of heads of 8""");
        holds(listing, "positions = select_positions indexer.q_rope, indexer.weights, indexer.k_rope");
        holds(listing, "values in keys true, blk.0.positions");
        assertEquals(1, listing.split("= select_positions").length - 1, listing);
    }

    @Test
    void whatIsNotImplementedOrImpossibleIsRefused() {
        refused(tiny().key("attention.indexer.types", new long[] {0, 1}), ErrorCode.MODEL_KEY_VALUE, "indexer.types");
        refused(
                tiny().without("attention.indexer.types").key("context_length", 1_048_576),
                ErrorCode.MODEL_KEY_MISSING,
                "indexer.types");
        refused(tiny().key("attention.indexer.key_length", 3), ErrorCode.MODEL_KEY_VALUE, "indexer.key_length");
    }

    private static void holds(String listing, String part) {
        assertTrue(listing.contains(part.strip()), listing);
    }

    private void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }
}
