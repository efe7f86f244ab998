package dev.tenon.models.gemma;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
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
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `gemma` architecture: the first Gemma, and CodeGemma.
///
/// A decoder with norms before attention and the GELU feed-forward layer, and rotation of half-split pairs. The
/// embedding is the output matrix, too.
@Component(service = ModelArchitecture.class, property = "model.architecture=gemma")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class GemmaArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;

    @Override
    public String id() {
        return "gemma";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), rope));
    }

    private static Graph graph(DecoderBlocks d, RopeParams rope) {
        Value x = GemmaBlocks.embedding(d); //                                                        [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value attended =
                    d.attention(blk, normed, layer, d.attentionParams(blk).build(), Optional.of(rope));
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = d.gated(blk, "", normed, d.config().feedForwardLength(), Activation.GELU_TANH);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
