package dev.tenon.models.dense;

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
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `exaone4` architecture: EXAONE 4.0.
///
/// A decoder that norms what attention and the SwiGLU feed-forward layer give, not what they read, and heads of
/// queries and keys before half-split pairs are rotated. In the 32B model three of four layers see a window; the
/// fourth sees all positions and rotates nothing.
@Component(service = ModelArchitecture.class, property = "model.architecture=exaone4")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Exaone4Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 1_000_000;
    private static final int FULL = 4;
    private static final int LAYERS_OF_32B = 64;
    private static final int WINDOW_OF_32B = 4096;

    @Override
    public String id() {
        return "exaone4";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        DecoderBlocks blocks = new DecoderBlocks(source, config).always(QkNorm.HEADS);
        return new ModelDefinition(config, graph(blocks, keys));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        ModelConfig c = d.config();
        Optional<RopeParams> rope =
                Optional.of(RopeKeys.read(keys, c, Pairing.HALF_SPLIT).build());
        int usual = c.blockCount() == LAYERS_OF_32B ? WINDOW_OF_32B : 0;
        int window = keys.integerOr("attention.sliding_window", usual, 0, Integer.MAX_VALUE);

        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            boolean full = window > 0 && layer % FULL == FULL - 1;
            AttentionParams params =
                    d.attentionParams(blk).slidingWindow(full ? 0 : window).build();

            Value attended = d.attention(blk, x, layer, params, full ? Optional.empty() : rope);
            Value normed = d.rmsNorm(blk + "post_attention_norm", attended);
            x = d.graph().add(blk + "attn_residual", x, normed); //                                   [T, E]

            Value forward = d.gated(blk, "", x, c.feedForwardLength(), Activation.SILU);
            normed = d.rmsNorm(blk + "post_ffw_norm", forward);
            x = d.graph().add(blk + "ffn_residual", x, normed); //                                    [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
