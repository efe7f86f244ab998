package dev.tenon.models.nemotron;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.StateBlocks;
import dev.tenon.api.model.blocks.StateShape;
import java.util.Optional;

/// What the hybrid Nemotron models have in common: each layer is one of three things: attention without any position
/// where it has key heads, a feed-forward layer where that has a width, a Mamba-2 layer otherwise.
final class NemotronGraph {
    private static final String EPSILON = "attention.layer_norm_rms_epsilon";
    private static final double MAX_SCALE = 1e6;
    private static final int MAX_WIDTH = 1 << 24;

    private NemotronGraph() {}

    /// Adds the feed-forward of a layer.
    interface FeedForward {
        /// {@return `[T, E]`}
        Value of(DecoderBlocks d, String blk, Value normed, int width);
    }

    static ModelDefinition define(ModelSource source, FeedForward feedForward) {
        ModelKeys keys = ModelKeys.of(source);
        // Files have an epsilon of layer norms, too, which no norm uses.
        ModelConfig c = ModelConfig.readShape(source, 10_000).toBuilder()
                .rmsEps(keys.number(EPSILON, 0, 1))
                .build();
        DecoderBlocks d = new DecoderBlocks(source, c).always("ssm_norm.weight");
        StateBlocks states = new StateBlocks(d, StateShape.read(keys));
        int[] headsKv = d.headCountsKv();
        int[] widths = keys.perLayer("feed_forward_length", c.blockCount(), 0, MAX_WIDTH);
        float scale = keys.numberOr("attention.scale", (float) (1 / Math.sqrt(c.keyLength())), 0, MAX_SCALE);

        Value x = d.embedding(); //                                                                   [T, E]
        int cached = 0;
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value mixed;
            if (headsKv[layer] > 0) {
                AttentionParams params = AttentionParams.builder(c.headCount(), headsKv[layer], scale)
                        .build();
                mixed = d.attention(blk, normed, cached++, params, Optional.empty());
            } else if (widths[layer] > 0) {
                mixed = feedForward.of(d, blk, normed, widths[layer]);
            } else {
                mixed = states.mamba2(blk, normed);
            }
            x = d.graph().add(blk + "residual", x, mixed);
        }
        return new ModelDefinition(c, d.build(x)); //                                                 [L, nVocab]
    }
}
