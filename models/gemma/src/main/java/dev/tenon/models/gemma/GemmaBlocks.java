package dev.tenon.models.gemma;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.blocks.DecoderBlocks;
import java.util.Optional;

/// What the Gemma models have in common: embeddings that are multiplied by the root of their width, a norm
/// before and after attention and the feed-forward layer, a gate that is a GELU. The norm weights are used as
/// stored: the 1 that Gemma adds is already in a GGUF file.
final class GemmaBlocks {
    static final int MAX_WINDOW = Integer.MAX_VALUE;
    private static final double MAX_CAP = 1e6;

    private GemmaBlocks() {}

    /// The embeddings, scaled, or rows that come with tokens, which are not, `[T, E]`.
    static Value embedding(DecoderBlocks d) {
        float root = (float) Math.sqrt(d.config().embeddingLength());
        Value embedded = d.graph().embedding("embd", d.embeddingTable());
        return d.orRows(d.graph().scale("embd_scaled", embedded, root));
    }

    /// One layer, `[T, E]`.
    static Value layer(DecoderBlocks d, Value x, int layer, AttentionParams params, RopeParams rope) {
        GraphBuilder g = d.graph();
        String blk = "blk." + layer + ".";
        Value attended = d.attention(blk, d.rmsNorm(blk + "attn_norm", x), layer, params, Optional.of(rope));
        Value y = g.add(blk + "attn_residual", x, d.rmsNorm(blk + "post_attention_norm", attended));

        Value normed = d.rmsNorm(blk + "ffn_norm", y);
        Value forward = d.gated(blk, "", normed, d.config().feedForwardLength(), Activation.GELU_TANH);
        return g.add(blk + "ffn_residual", y, d.rmsNorm(blk + "post_ffw_norm", forward));
    }

    /// How a layer attends: the largest model of a generation scales its scores by the width that a head would
    /// have, not by what it has.
    static AttentionParams.Builder params(DecoderBlocks d, String blk, int layersOfTheLargest) {
        ModelConfig c = d.config();
        if (c.blockCount() != layersOfTheLargest) {
            return d.attentionParams(blk);
        }
        float scale = (float) (1 / Math.sqrt((double) c.embeddingLength() / c.headCount()));
        return AttentionParams.builder(c.headCount(), c.headCountKv(), scale);
    }

    /// A soft cap of the file; 0 for none.
    static float cap(ModelKeys keys, String key, float otherwise) {
        return keys.numberOr(key, otherwise, 0, MAX_CAP);
    }

    /// The logits, with the soft cap of the file.
    static Value logits(DecoderBlocks d, Value x, float cap) {
        Value logits = d.logits(d.hidden(x));
        return cap == 0 ? logits : d.graph().softCap("logits_capped", logits, cap);
    }
}
