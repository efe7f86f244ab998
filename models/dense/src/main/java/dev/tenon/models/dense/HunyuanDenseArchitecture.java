package dev.tenon.models.dense;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import org.osgi.service.component.annotations.Component;

/// The `hunyuan-dense` architecture: the Hunyuan models of 0.5B to 7B.
///
/// A decoder with RMSNorm and a SwiGLU feed-forward layer. Heads of queries and keys are normed after half-split
/// pairs are rotated. A file may have `rope.scaling.alpha`: the base of frequencies is then multiplied by
/// `alpha ^ (length / (length - 2))`, where `length` is that of a head.
@Component(service = ModelArchitecture.class, property = "model.architecture=hunyuan-dense")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class HunyuanDenseArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    private static final double MAX_ALPHA = 1e6;

    @Override
    public String id() {
        return "hunyuan-dense";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = config(keys);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), rope));
    }

    /// {@return counts, with the base of frequencies that `rope.scaling.alpha` makes}
    ///
    /// @param keys the file's
    static ModelConfig config(ModelKeys keys) {
        ModelConfig read = ModelConfig.readShape(keys.source(), DEFAULT_FREQ_BASE);
        float alpha = keys.numberOr("rope.scaling.alpha", 1, 1, MAX_ALPHA);
        return read.toBuilder()
                .ropeFreqBase(stretched(read.ropeFreqBase(), alpha, read.keyLength()))
                .build();
    }

    private static float stretched(float base, float alpha, int length) {
        return alpha == 1 ? base : (float) (base * Math.pow(alpha, length / (length - 2.0)));
    }

    private static Graph graph(DecoderBlocks d, RopeParams rope) {
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value attended = attention(d, blk, normed, layer, rope);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = d.gated(blk, "", normed, d.config().feedForwardLength(), Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }

    /// {@return self-attention whose heads are normed after the rotation, `[T, E]`}
    ///
    /// @param d have the graph
    /// @param blk prefix of the layer
    /// @param x its normed input
    /// @param layer index of the KV cache layer
    /// @param rope how to rotate
    static Value attention(DecoderBlocks d, String blk, Value x, int layer, RopeParams rope) {
        GraphBuilder g = d.graph();
        ModelConfig c = d.config();
        Value q = d.linear(blk + "attn_q", x, c.headCount() * c.keyLength()); //                      [T, H * K]
        Value k = d.linear(blk + "attn_k", x, c.headCountKv() * c.keyLength()); //                    [T, Hkv * K]
        Value v = d.linear(blk + "attn_v", x, c.headCountKv() * c.valueLength()); //                  [T, Hkv * V]
        q = d.rmsNorm(blk + "attn_q_norm", g.rope(blk + "q_rope", q, rope), c.keyLength());
        k = d.rmsNorm(blk + "attn_k_norm", g.rope(blk + "k_rope", k, rope), c.keyLength());
        Value attended = g.attention(
                blk + "attn", q, k, v, layer, d.attentionParams(blk).build()); //                     [T, H * V]
        return d.linear(blk + "attn_output", attended, c.embeddingLength()); //                       [T, E]
    }
}
