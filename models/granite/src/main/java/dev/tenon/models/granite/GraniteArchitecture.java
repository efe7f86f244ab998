package dev.tenon.models.granite;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `granite` architecture: the dense Granite models.
///
/// A decoder as Llama's, rotating interleaved pairs, with four factors: on the embeddings, on what attention and
/// feed-forward add to the residual stream, on scores, and one that logits are divided by.
@Component(service = ModelArchitecture.class, property = "model.architecture=granite")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class GraniteArchitecture implements ModelArchitecture {
    static final float DEFAULT_FREQ_BASE = 10_000;

    /// Adds the feed-forward of a layer.
    interface FeedForward {
        /// {@return `[T, E]`}
        Value of(DecoderBlocks d, String blk, Value normed);
    }

    @Override
    public String id() {
        return "granite";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = ModelConfig.read(source, DEFAULT_FREQ_BASE);
        int width = config.feedForwardLength();
        return new ModelDefinition(
                config, graph(config, source, (d, blk, x) -> d.gated(blk, "", x, width, Activation.SILU)));
    }

    static Graph graph(ModelConfig c, ModelSource source, FeedForward feedForward) {
        GraniteBlocks g = new GraniteBlocks(source, c);
        DecoderBlocks d = g.decoder();
        Optional<RopeParams> rope = g.rope();
        Value x = g.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value attended = d.attention(blk, normed, layer, g.attention(c.headCountKv()), rope);
            x = g.add(blk + "attn_residual", x, attended);
            normed = d.rmsNorm(blk + "ffn_norm", x);
            x = g.add(blk + "ffn_residual", x, feedForward.of(d, blk, normed));
        }
        return g.build(x); //                                                                         [L, nVocab]
    }
}
