package dev.tenon.models.deepseek;

import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;

/// The index by which a layer chooses the positions that it attends to (DeepSeek-AI 2025): short keys with heads of
/// their own, of which the first elements are rotated.
///
/// @param heads that score positions
/// @param length elements of a key
/// @param count positions that a token attends to, at most
/// @param rope rotates keys and queries
record PositionIndex(int heads, int length, int count, RopeParams rope) {
    private static final int MAX_WIDTH = 1 << 24;
    private static final float EPS = 1e-6f;

    /// Reads the keys.
    ///
    /// @param keys the file's
    /// @param config counts
    /// @param pairing which elements are rotated together
    static PositionIndex read(ModelKeys keys, ModelConfig config, Pairing pairing) {
        keys.integer("attention.q_lora_rank", 1, MAX_WIDTH);
        int heads = keys.integer("attention.indexer.head_count", 1, 1 << 10);
        int length = keys.integer("attention.indexer.key_length", config.ropeDim(), MAX_WIDTH / heads);
        ModelConfig part = config.toBuilder().keyLength(length).build();
        // As with latent attention, sines and cosines are not scaled; here, scores are not either.
        RopeParams rope = RopeKeys.read(keys, part, pairing).attentionFactor(1).build();
        return new PositionIndex(heads, length, keys.integer("attention.indexer.top_k", 1, MAX_WIDTH), rope);
    }

    /// {@return the positions that a layer attends to}
    ///
    /// @param d have the graph
    /// @param blk prefix of the layer
    /// @param x its normed input, `[T, E]`
    /// @param compressed what its queries are made of
    /// @param layer index of a KV cache layer for the keys
    Value positions(DecoderBlocks d, String blk, Value x, Value compressed, int layer) {
        GraphBuilder g = d.graph();
        String index = blk + "indexer.";
        Value q = d.linear(index + "attn_q_b", compressed, heads * length); //                        [T, J * D]
        Value k = d.linear(index + "attn_k", x, length); //                                           [T, D]
        Weight norm = Weight.vector(index + "k_norm.weight", length);
        Optional<Weight> bias = Optional.of(Weight.vector(index + "k_norm.bias", length));
        k = g.layerNorm(index + "k_norm", k, norm, bias, EPS);
        Value weights = d.linear(index + "proj", x, heads); //                                        [T, J]
        return g.selectPositions(
                blk + "positions",
                g.rope(index + "q_rope", q, rope),
                g.scale(index + "weights", weights, (float) (1 / Math.sqrt((double) heads * length))),
                g.rope(index + "k_rope", k, rope),
                layer,
                count);
    }
}
