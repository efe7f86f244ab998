package dev.tenon.models.qwen3;

import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;

/// The decoder that the Qwen models with experts and usual attention share.
final class MoeQwen {
    static final float DEFAULT_FREQ_BASE = 1_000_000;

    private MoeQwen() {}

    /// Adds the experts of a layer.
    interface Experts {
        /// {@return their result, `[T, E]`}
        ///
        /// @param blk prefix of the layer's tensors
        /// @param x `[T, E]`
        Value of(String blk, Value x);
    }

    static ModelDefinition define(DecoderBlocks d, ModelKeys keys, Experts experts) {
        ModelConfig c = d.config();
        Optional<RopeParams> rope =
                Optional.of(RopeKeys.read(keys, c, Pairing.HALF_SPLIT).build());
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value attended =
                    d.attention(blk, normed, layer, d.attentionParams(blk).build(), rope);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            Value mixed = experts.of(blk, d.rmsNorm(blk + "ffn_norm", x));
            x = d.graph().add(blk + "ffn_residual", x, mixed); //                                     [T, E]
        }
        return new ModelDefinition(c, d.build(x)); //                                                 [L, nVocab]
    }
}
