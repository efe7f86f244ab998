package dev.tenon.api.model.blocks;

import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import java.util.Optional;

/// The decoder that most architectures are: each layer adds to the residual stream what attention makes of its norm,
/// then what the feed-forward layer makes of the norm of that sum.
public final class UsualDecoder {
    private UsualDecoder() {}

    /// Adds the feed-forward layer, or the experts, of a layer.
    public interface FeedForward {
        /// {@return its result, `[T, E]`}
        ///
        /// @param blk prefix of the layer's tensors, such as `blk.0.`
        /// @param layer which layer, 0-based
        /// @param x the normed input, `[T, E]`
        Value of(String blk, int layer, Value x);
    }

    /// {@return the whole graph, from the tokens to the logits}
    ///
    /// @param d blocks, whose graph is empty
    /// @param rope how all layers rotate queries and keys
    /// @param feedForward adds the second half of a layer
    public static Graph of(DecoderBlocks d, RopeParams rope, FeedForward feedForward) {
        return of(d, rope, "ffn_norm", feedForward);
    }

    /// {@return the same with another name of the norm before the feed-forward layer}
    ///
    /// @param d blocks, whose graph is empty
    /// @param rope how all layers rotate queries and keys
    /// @param secondNorm name of the tensor without layer and ending, such as `post_attention_norm`
    /// @param feedForward adds the second half of a layer
    public static Graph of(DecoderBlocks d, RopeParams rope, String secondNorm, FeedForward feedForward) {
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            x = layer(d, layer, layer, x, rope, secondNorm, feedForward);
        }
        return d.build(x); //                                                                         [L, nVocab]
    }

    /// {@return the residual stream after a layer, `[T, E]`}
    ///
    /// @param d blocks
    /// @param layer which layer of the file, 0-based
    /// @param cacheLayer its layer of the KV cache
    /// @param x the residual stream before it, `[T, E]`
    /// @param rope how it rotates queries and keys
    /// @param secondNorm as above
    /// @param feedForward adds its second half
    public static Value layer(
            DecoderBlocks d,
            int layer,
            int cacheLayer,
            Value x,
            RopeParams rope,
            String secondNorm,
            FeedForward feedForward) {
        String blk = "blk." + layer + ".";
        Value normed = d.norm(blk + "attn_norm", x);
        Value attended =
                d.attention(blk, normed, cacheLayer, d.attentionParams(blk).build(), Optional.of(rope));
        Value sum = d.graph().add(blk + "attn_residual", x, attended); //                             [T, E]
        normed = d.norm(blk + secondNorm, sum);
        return d.graph().add(blk + "ffn_residual", sum, feedForward.of(blk, layer, normed));
    }
}
