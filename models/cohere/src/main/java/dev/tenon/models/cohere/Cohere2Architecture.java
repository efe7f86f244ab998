package dev.tenon.models.cohere;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DecoderBlocks.Norm;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import java.util.function.IntPredicate;
import org.osgi.service.component.annotations.Component;

/// The `cohere2` architecture: Command R7B, Command A and Aya.
///
/// A decoder with layer norms without bias whose attention and SwiGLU feed-forward layer read the same normed
/// input, side by side. Three of four layers rotate neighbouring pairs and see a window; the fourth sees all
/// positions and rotates nothing. The embedding is the output matrix; logits are multiplied by a constant.
@Component(service = ModelArchitecture.class, property = "model.architecture=cohere2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Cohere2Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10000;
    private static final int FULL = 4;
    private static final double MAX_SCALE = 1e3;

    @Override
    public String id() {
        return "cohere2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        int window = keys.integer("attention.sliding_window", 1, Integer.MAX_VALUE);
        return define(keys, window, layer -> layer % FULL != FULL - 1);
    }

    /// {@return a decoder of Cohere}
    ///
    /// @param window positions that a layer that rotates sees; 0 for all
    /// @param rotates whether a layer does
    static ModelDefinition define(ModelKeys keys, int window, IntPredicate rotates) {
        float eps = keys.number("attention.layer_norm_epsilon", 0, 1);
        ModelConfig config = ModelConfig.readShape(keys.source(), DEFAULT_FREQ_BASE).toBuilder()
                .rmsEps(eps)
                .build();
        DecoderBlocks blocks = new DecoderBlocks(keys.source(), config).norms(Norm.LAYER);
        return new ModelDefinition(config, graph(blocks, keys, window, rotates));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys, int window, IntPredicate rotates) {
        RopeParams rope = RopeKeys.read(keys, d.config(), Pairing.INTERLEAVED).build();
        float logitScale = keys.number("logit_scale", -MAX_SCALE, MAX_SCALE);

        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            boolean rotated = rotates.test(layer);
            AttentionParams params =
                    d.attentionParams(blk).slidingWindow(rotated ? window : 0).build();

            Value normed = d.norm(blk + "attn_norm", x);
            Value attended = d.attention(blk, normed, layer, params, rotated ? Optional.of(rope) : Optional.empty());
            Value forward = d.gated(blk, "", normed, d.config().feedForwardLength(), Activation.SILU);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        // Scaled here and not after the matrix, which has many times as many rows.
        Value scaled = d.graph().scale("output_scaled", d.hidden(x), logitScale); //                  [L, E]
        return d.graph().build(d.logits(scaled)); //                                                  [L, nVocab]
    }
}
