package dev.tenon.models.bert;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.EncoderHead;
import java.util.Optional;

/// What these encoders have in common.
final class Encoders {
    /// For models without rotation, where the base does not matter.
    static final float NO_ROTATION = 10_000;

    private static final String TYPES = "tokenizer.ggml.token_type_count";
    private static final int MAX_TYPES = 1 << 16;

    private Encoders() {}

    /// {@return the keys of an encoder, which has the epsilon of layer norms among them}
    ///
    /// @throws dev.tenon.api.error.UnsupportedModelException (`MODEL-003`) if the file asks for a mask
    static ModelKeys keys(ModelSource source) {
        ModelKeys keys = withoutMask(source);
        keys.number("attention.layer_norm_epsilon", 0, 1);
        return keys;
    }

    /// {@return the keys of an encoder with RMS norms}
    static ModelKeys withoutMask(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        if (keys.flag("attention.causal", false)) {
            throw keys.unsupported("attention.causal", true, "false");
        }
        return keys;
    }

    /// Adds the feed-forward of a layer.
    interface FeedForward {
        /// {@return `[T, E]`}
        Value of(String blk, int layer, Value x);
    }

    /// {@return the graph of BERT and its kind: norms after the sums, of the embeddings first, none at the end}
    ///
    /// @param x the embeddings, `[T, E]`
    /// @param bias what is added to scores
    /// @param rope how queries and keys are rotated
    static Graph bert(
            DecoderBlocks b,
            ModelKeys keys,
            Value x,
            Optional<ScoreBias> bias,
            Optional<RopeParams> rope,
            FeedForward feedForward) {
        GraphBuilder g = b.graph();
        Value y = b.layerNorm("token_embd_norm", x);
        for (int layer = 0; layer < b.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            AttentionParams params =
                    b.attentionParams(blk).causal(false).scoreBias(bias).build();
            Value attended = b.attention(blk, y, layer, params, rope);
            y = b.layerNorm(blk + "attn_output_norm", g.add(blk + "attn_residual", y, attended));
            Value forward = feedForward.of(blk, layer, y);
            y = b.layerNorm(blk + "layer_output_norm", g.add(blk + "ffn_residual", y, forward));
        }
        return EncoderHead.build(b, keys, y);
    }

    /// {@return the embeddings with the vector of token type 0, `[T, E]`: texts have no second part here}
    static Value typed(DecoderBlocks b, ModelKeys keys) {
        int types =
                keys.source().metadata().has(TYPES) ? keys.source().metadata().requiredInteger(TYPES, 1, MAX_TYPES) : 2;
        Weight table = new Weight("token_types.weight", b.config().embeddingLength(), types);
        return b.graph().add("embd_typed", b.embedding(), b.graph().repeat("type", table.rows(0, 1)));
    }
}
