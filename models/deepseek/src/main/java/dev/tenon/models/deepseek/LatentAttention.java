package dev.tenon.models.deepseek;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.SelectedAttention;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;

/// Latent attention: its widths and numbers, and the ops that it is.
///
/// @param queryRank elements of the compressed query; 0 if queries are not compressed
/// @param latent elements that keys and values are projections of
/// @param plain elements of a head's query and key that are not rotated
/// @param rotated elements of a head's query that are, and of the key that all heads share
/// @param value elements of a head's value
/// @param rope rotates; none where the rotated part is not
/// @param scale factor on scores
/// @param gain of the scale of queries by position; 0 for none
/// @param period positions after which that scale grows
record LatentAttention(
        int queryRank,
        int latent,
        int plain,
        int rotated,
        int value,
        Optional<RopeParams> rope,
        float scale,
        float gain,
        int period) {
    private static final int MAX_WIDTH = 1 << 24;
    private static final String SCALE = "attention.temperature_scale";

    /// Reads the keys.
    ///
    /// @param keys the file's
    /// @param config counts
    /// @param rotates whether positions are rotated at all
    static LatentAttention read(ModelKeys keys, ModelConfig config, boolean rotates) {
        int heads = config.headCount();
        int widest = MAX_WIDTH / heads;
        int rotated = config.ropeDim();
        int latent = keys.integer("attention.kv_lora_rank", 1, widest);
        // What the cache holds of a token: one head, whose key is latent and rotated part, its value the latent.
        keys.perLayer("attention.head_count_kv", config.blockCount(), 0, 1);
        keys.integer("attention.key_length", latent + rotated, latent + rotated);
        keys.integer("attention.value_length", latent, latent);
        int head = keys.integer("attention.key_length_mla", rotated + 1, widest);
        // Sines and cosines are not scaled: scores are.
        ModelConfig part = config.toBuilder().keyLength(rotated).build();
        Optional<RopeParams> rope = rotates
                ? Optional.of(RopeKeys.read(keys, part, Pairing.INTERLEAVED)
                        .attentionFactor(1)
                        .build())
                : Optional.empty();
        double magnitude = rope.flatMap(RopeParams::yarn).isPresent() ? magnitude(keys) : 1;
        boolean scales = keys.has(SCALE);
        return new LatentAttention(
                keys.integerOr("attention.q_lora_rank", 0, 0, MAX_WIDTH),
                latent,
                head - rotated,
                rotated,
                keys.integer("attention.value_length_mla", 1, widest),
                rope,
                (float) (magnitude * magnitude / Math.sqrt(head)),
                scales ? keys.number(SCALE, 0, 1e3) : 0,
                scales ? RopeKeys.originalContext(keys) : 1);
    }

    /// The multiplier of the paper is kept in the file times 0.1.
    private static double magnitude(ModelKeys keys) {
        double multiplier = keys.numberOr("rope.scaling.yarn_log_multiplier", 0, 0, 1e3) / 0.1;
        return RopeKeys.magnitude(RopeKeys.factor(keys), multiplier);
    }

    /// {@return queries, scaled by position where the file says so}
    ///
    /// @param g the graph
    /// @param blk prefix of the layer
    /// @param q all queries
    private Value scaled(GraphBuilder g, String blk, Value q) {
        return gain == 0 ? q : g.positionScale(blk + "q_scaled", q, gain, 0, period);
    }

    /// {@return the projected result of a layer, `[T, E]`}
    ///
    /// With `N` plain and `R` rotated elements of a head's query, a latent of `C`, and `V` elements of a head's
    /// values.
    ///
    /// @param d have the graph
    /// @param blk prefix of the layer
    /// @param x its normed input, `[T, E]`
    /// @param layer index of the KV cache layer
    Value of(DecoderBlocks d, String blk, Value x, int layer) {
        Value compressed = compressed(d, blk, x);
        return of(d, blk, x, compressed, layer, Optional.empty());
    }

    /// {@return the same, of some positions only}
    ///
    /// @param d have the graph
    /// @param blk prefix of the layer
    /// @param x its normed input, `[T, E]`
    /// @param compressed what queries are made of, of [#compressed]
    /// @param layer index of the KV cache layer
    /// @param positions those that a token attends to, or empty for all that it sees
    Value of(DecoderBlocks d, String blk, Value x, Value compressed, int layer, Optional<Value> positions) {
        GraphBuilder g = d.graph();
        int heads = d.config().headCount();

        Value q = d.linear(blk + (queryRank == 0 ? "attn_q" : "attn_q_b"), compressed, heads * (plain + rotated));
        Value fixed = g.slice(blk + "q_nope", q, heads, 0, plain); //                                 [T, H * N]
        Value turned = g.slice(blk + "q_pe", q, heads, plain, rotated); //                            [T, H * R]
        turned = d.rotated(blk + "q_rope", turned, rope);
        Weight toKeys = new Weight(blk + "attn_k_b.weight", plain, latent, heads);
        Value absorbed = g.headLinear(blk + "q_latent", fixed, toKeys); //                            [T, H * C]
        q = scaled(g, blk, g.join(blk + "q", absorbed, turned, heads)); //                            [T, H * (C + R)]

        int rows = latent + rotated;
        Value kept = d.linearRows(blk + "attn_kv_a_mqa", blk + "kv_latent", x, rows, 0, latent);
        kept = d.rmsNorm(blk + "attn_kv_a_norm", kept); //                                            [T, C]
        Value shared = d.linearRows(blk + "attn_kv_a_mqa", blk + "k_pe", x, rows, latent, rows);
        shared = d.rotated(blk + "k_rope", shared, rope); //                                          [T, R]
        Value k = g.join(blk + "k", kept, shared, 1); //                                              [T, C + R]

        AttentionParams params =
                AttentionParams.builder(heads, 1, scale).valuesInKeys(true).build();
        Value attended = attended(
                g,
                new CoreOp.Attention(q, k, kept, layer, params, g.value(blk + "attn", heads * latent)),
                positions); //     [T, H * C]
        Weight toValues = new Weight(blk + "attn_v_b.weight", latent, value, heads);
        Value values = g.headLinear(blk + "attn_values", attended, toValues); //                      [T, H * V]
        return d.linear(blk + "attn_output", values, d.config().embeddingLength()); //                [T, E]
    }

    private static Value attended(GraphBuilder g, CoreOp.Attention attention, Optional<Value> positions) {
        g.add(positions.<Op>map(p -> new SelectedAttention(attention, p)).orElse(attention));
        return attention.out();
    }

    /// {@return what queries are made of: the compressed and normed input, or the input itself}
    ///
    /// @param d have the graph
    /// @param blk prefix of the layer
    /// @param x its normed input, `[T, E]`
    Value compressed(DecoderBlocks d, String blk, Value x) {
        return queryRank == 0 ? x : d.rmsNorm(blk + "attn_q_a_norm", d.linear(blk + "attn_q_a", x, queryRank));
    }
}
