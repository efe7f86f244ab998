package dev.tenon.models.deepseek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.TinyArchitectureContract;
import dev.tenon.itest.testkit.models.TinySource;
import java.util.Set;
import java.util.TreeSet;

/// What decoders of latent attention and experts have in common.
abstract class LatentContract extends TinyArchitectureContract {
    /// Keys that an index cannot do without.
    static final Set<String> INDEX_KEYS = Set.of(
            "attention.q_lora_rank",
            "attention.indexer.head_count",
            "attention.indexer.key_length",
            "attention.indexer.top_k");

    /// {@return a file of two layers, of which the second has experts}
    ///
    /// @param architecture its id
    static TinySource latent(String architecture) {
        return new TinySource(architecture)
                .key("attention.head_count_kv", 1)
                .key("attention.q_lora_rank", 20)
                .key("attention.kv_lora_rank", 12)
                .key("attention.key_length", 16)
                .key("attention.value_length", 12)
                .key("attention.key_length_mla", 10)
                .key("attention.value_length_mla", 8)
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
    }

    /// {@return the same file with keys of YaRN}
    static TinySource yarn(TinySource tiny) {
        return tiny.key("rope.scaling.type", "yarn")
                .key("rope.scaling.factor", 8f)
                .key("rope.scaling.original_context_length", 64)
                .key("rope.scaling.yarn_log_multiplier", 0.1f);
    }

    /// {@return the same file with an index over positions}
    ///
    /// @param blocks prefixes of the layers that have one
    static TinySource indexed(TinySource tiny, String... blocks) {
        tiny.key("attention.indexer.head_count", 3)
                .key("attention.indexer.key_length", 8)
                .key("attention.indexer.top_k", 5);
        for (String blk : blocks) {
            tiny.tensor(blk + "indexer.attn_q_b.weight", 20, 24)
                    .tensor(blk + "indexer.attn_k.weight", 32, 8)
                    .tensor(blk + "indexer.k_norm.weight", 8)
                    .tensor(blk + "indexer.k_norm.bias", 8)
                    .tensor(blk + "indexer.proj.weight", 32, 3);
        }
        return tiny;
    }

    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }

    @Override
    protected Set<String> ownKeys() {
        return new TreeSet<>(Set.of(
                "attention.head_count_kv",
                "attention.kv_lora_rank",
                "attention.key_length",
                "attention.value_length",
                "attention.key_length_mla",
                "attention.value_length_mla",
                "expert_feed_forward_length",
                "expert_count",
                "expert_used_count",
                "expert_shared_count"));
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

    static void holds(String listing, String part) {
        assertTrue(listing.contains(part.strip()), listing);
    }

    void refused(TinySource tiny, String code, String part) {
        TenonException e = tiny.refusal(architecture());
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }
}
