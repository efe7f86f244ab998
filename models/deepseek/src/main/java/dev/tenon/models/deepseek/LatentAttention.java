package dev.tenon.models.deepseek;

import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.RopeKeys;

/// The widths and numbers of latent attention.
///
/// @param queryRank elements of the compressed query; 0 if queries are not compressed
/// @param latent elements that keys and values are projections of
/// @param plain elements of a head's query and key that are not rotated
/// @param rotated elements of a head's query that are, and of the key that all heads share
/// @param value elements of a head's value
/// @param rope rotates
/// @param scale factor on scores
/// @param gain of the scale of queries by position; 0 for none
/// @param period positions after which that scale grows
record LatentAttention(
        int queryRank,
        int latent,
        int plain,
        int rotated,
        int value,
        RopeParams rope,
        float scale,
        float gain,
        int period) {
    private static final int MAX_WIDTH = 1 << 24;
    private static final String SCALE = "attention.temperature_scale";

    /// Reads the keys.
    ///
    /// @param keys the file's
    /// @param config counts
    static LatentAttention read(ModelKeys keys, ModelConfig config) {
        int heads = config.headCount();
        int widest = MAX_WIDTH / heads;
        int rotated = config.ropeDim();
        int latent = keys.integer("attention.kv_lora_rank", 1, widest);
        // What the cache holds of a token: one head, whose key is latent and rotated part, its value the latent.
        keys.integer("attention.head_count_kv", 1, 1);
        keys.integer("attention.key_length", latent + rotated, latent + rotated);
        keys.integer("attention.value_length", latent, latent);
        int head = keys.integer("attention.key_length_mla", rotated + 1, widest);
        // Sines and cosines are not scaled: scores are.
        RopeParams rope = RopeKeys.read(
                        keys, config.toBuilder().keyLength(rotated).build(), Pairing.INTERLEAVED)
                .attentionFactor(1)
                .build();
        double magnitude = rope.yarn().isPresent() ? magnitude(keys) : 1;
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
    Value scaled(GraphBuilder g, String blk, Value q) {
        return gain == 0 ? q : g.positionScale(blk + "q_scaled", q, gain, 0, period);
    }
}
