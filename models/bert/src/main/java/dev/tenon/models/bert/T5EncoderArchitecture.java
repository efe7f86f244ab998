package dev.tenon.models.bert;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.ScoreBias;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.EncoderHead;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `t5encoder` architecture: the encoders of T5 and Flan-T5 (Raffel et al. 2020).
///
/// RMS norms before the sums and at the end. Scores are not scaled; the bias of a bucket of distances is added to
/// them, by one table for all layers. The feed-forward layer has a gate that is a GELU, or, in the first T5, a ReLU
/// and no gate.
@Component(service = ModelArchitecture.class, property = "model.architecture=t5encoder")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class T5EncoderArchitecture implements ModelArchitecture {
    private static final String EPSILON = "attention.layer_norm_rms_epsilon";
    private static final String BUCKETS = "attention.relative_buckets_count";
    private static final int MAX_DISTANCE = 128;

    @Override
    public String id() {
        return "t5encoder";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = Encoders.withoutMask(source);
        ModelConfig config = ModelConfig.readShape(source, Encoders.NO_ROTATION).toBuilder()
                .rmsEps(keys.number(EPSILON, 0, 1))
                .build();
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), keys));
    }

    private static Graph graph(DecoderBlocks b, ModelKeys keys) {
        GraphBuilder g = b.graph();
        ModelConfig c = b.config();
        boolean gated = keys.source().has("enc.blk.0.ffn_gate.weight");
        int buckets = keys.integer(BUCKETS, 4, MAX_DISTANCE);
        if (buckets % 4 != 0) {
            throw keys.impossible(BUCKETS, buckets, "a multiple of 4");
        }
        Weight table = new Weight("enc.blk.0.attn_rel_b.weight", c.headCount(), buckets);
        AttentionParams params = AttentionParams.builder(c.headCount(), c.headCount(), 1)
                .causal(false)
                .scoreBias(Optional.of(ScoreBias.relative(table, MAX_DISTANCE)))
                .build();

        Value x = b.embedding(); //                                                              [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "enc.blk." + layer + ".";

            Value normed = b.rmsNorm(blk + "attn_norm", x);
            Value q = b.linear(blk + "attn_q", normed, c.headCount() * c.keyLength());
            Value k = b.linear(blk + "attn_k", normed, c.headCount() * c.keyLength());
            Value v = b.linear(blk + "attn_v", normed, c.headCount() * c.valueLength());
            Value attended = g.attention(blk + "attn", q, k, v, layer, params);
            x = g.add(blk + "attn_residual", x, b.linear(blk + "attn_o", attended, c.embeddingLength()));

            normed = b.rmsNorm(blk + "ffn_norm", x);
            Value forward = gated
                    ? b.gated(blk, "", normed, c.feedForwardLength(), Activation.GELU_TANH)
                    : b.feedForward(blk, "", normed, c.feedForwardLength(), Activation.RELU);
            x = g.add(blk + "ffn_residual", x, forward);
        }
        return EncoderHead.build(b, keys, b.rmsNorm("enc.output_norm", x));
    }
}
