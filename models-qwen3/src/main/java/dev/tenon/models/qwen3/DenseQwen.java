package dev.tenon.models.qwen3;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.EncoderHead;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// The decoder that the dense Qwen models share; a variant says what is between the projections of queries and
/// keys and their rotation, and whether sections of a head take turns where pictures may come.
final class DenseQwen {
    private static final float DEFAULT_FREQ_BASE = 1_000_000;

    private DenseQwen() {}

    static ModelDefinition define(ModelSource source, UnaryOperator<DecoderBlocks> variant) {
        return define(source, variant, true);
    }

    static ModelDefinition define(ModelSource source, UnaryOperator<DecoderBlocks> variant, boolean interleaved) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig c = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        RopeParams.Builder plain = RopeKeys.read(keys, c, Pairing.HALF_SPLIT);
        Optional<RopeParams> rope = Optional.of(
                RopeKeys.alongAxes(keys, plain, c.ropeDim() / 2, interleaved).build());
        DecoderBlocks d = variant.apply(new DecoderBlocks(source, c));

        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value attended =
                    d.attention(blk, normed, layer, d.attentionParams(blk).build(), rope);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = d.gated(blk, "", normed, c.feedForwardLength(), Activation.SILU);
            x = d.deepened(layer, d.graph().add(blk + "ffn_residual", x, forward)); //                [T, E]
        }
        Value hidden = d.hidden(x); //                                                                [L, E]
        if (source.has("cls.output.weight")) {
            EncoderHead.scores(d.graph(), keys, hidden); //                                           [L, labels]
        }
        return new ModelDefinition(c, d.graph().build(d.logits(hidden))); //                          [L, nVocab]
    }
}
