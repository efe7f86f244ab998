package dev.tenon.models.lfm2;

import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import dev.tenon.api.model.blocks.EncoderHead;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;

/// What the LFM2 models have in common: a layer without key heads has a gated short convolution, the others
/// attention; their feed-forward layers differ.
final class Lfm2Graph {
    private static final int MAX_TAPS = 1 << 10;

    private Lfm2Graph() {}

    /// Adds the feed-forward of a layer.
    interface FeedForward {
        /// {@return `[T, E]`}
        Value of(DecoderBlocks d, String blk, int layer, Value normed);
    }

    static Graph of(ModelSource source, ModelConfig c, FeedForward feedForward) {
        ModelKeys keys = ModelKeys.of(source);
        int taps = keys.integer("shortconv.l_cache", 1, MAX_TAPS);
        boolean causal = keys.flag("attention.causal", true);
        RopeParams rope = RopeKeys.read(keys, c, Pairing.HALF_SPLIT).build();
        DecoderBlocks d = new DecoderBlocks(source, c).always(QkNorm.HEADS);
        int[] headsKv = d.headCountsKv();

        Value x = d.embedding(); //                                                                   [T, E]
        int cached = 0;
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value mixed = headsKv[layer] == 0
                    ? convolution(d, blk, normed, taps, causal)
                    : d.attention(
                            blk,
                            normed,
                            cached++,
                            d.attentionParams(blk, headsKv[layer])
                                    .causal(causal)
                                    .build(),
                            Optional.of(rope));
            x = d.graph().add(blk + "residual", x, mixed);
            normed = d.rmsNorm(blk + "ffn_norm", x);
            x = d.graph().add(blk + "ffn_residual", x, feedForward.of(d, blk, layer, normed));
        }
        // The last norm, whatever its name says.
        if (!causal) {
            return EncoderHead.build(d, keys, d.rmsNorm("token_embd_norm", x));
        }
        Value hidden = d.rmsNorm("token_embd_norm", d.graph().selectRows("selected", x)); //          [L, E]
        d.graph().output(Graph.HIDDEN, hidden);
        return d.graph().build(d.logits(hidden)); //                                                  [L, nVocab]
    }

    /// `out(g * conv(b * u))` with `b`, `g` and `u` of one projection.
    private static Value convolution(DecoderBlocks d, String blk, Value x, int taps, boolean causal) {
        GraphBuilder g = d.graph();
        int e = x.width();
        String in = blk + "shortconv.in_proj";
        Value b = d.linearRows(in, blk + "conv_b", x, 3 * e, 0, e);
        Value gate = d.linearRows(in, blk + "conv_g", x, 3 * e, e, 2 * e);
        Value u = d.linearRows(in, blk + "conv_u", x, 3 * e, 2 * e, 3 * e);
        Weight weight = new Weight(blk + "shortconv.conv.weight", taps, e);
        Value bu = g.multiply(blk + "conv_bu", b, u);
        Value convolved = causal
                ? g.shortConvolution(blk + "conv", bu, weight, Optional.empty())
                : g.centredConvolution(blk + "conv", bu, weight, Optional.empty());
        return d.linear(blk + "shortconv.out_proj", g.multiply(blk + "conv_gated", gate, convolved), e);
    }
}
