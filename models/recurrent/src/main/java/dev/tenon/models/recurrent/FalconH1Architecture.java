package dev.tenon.models.recurrent;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import dev.tenon.api.model.blocks.StateBlocks;
import dev.tenon.api.model.blocks.StateShape;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `falcon-h1` architecture: Falcon-H1.
///
/// Each layer has attention and a Mamba-2 layer side by side, which read the same normed input; mostly without a norm
/// of the latter's result. The feed-forward layer is SwiGLU. What the original multiplies by is in the weights.
@Component(service = ModelArchitecture.class, property = "model.architecture=falcon-h1")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class FalconH1Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;

    @Override
    public String id() {
        return "falcon-h1";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        return new ModelDefinition(
                config, graph(new DecoderBlocks(source, config), StateShape.read(keys), Optional.of(rope)));
    }

    private static Graph graph(DecoderBlocks d, StateShape shape, Optional<RopeParams> rope) {
        StateBlocks states = new StateBlocks(d, shape);
        ModelConfig c = d.config();
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value scanned = states.mamba2(blk, normed);
            Value attended =
                    d.attention(blk, normed, layer, d.attentionParams(blk).build(), rope);
            x = d.graph().add(blk + "ssm_residual", x, scanned);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            // This tensor's name has no ending.
            Weight weight = Weight.vector(blk + "ffn_norm", c.embeddingLength());
            normed = d.graph().rmsNorm(blk + "ffn_norm", x, weight, c.rmsEps());
            x = d.graph()
                    .add(blk + "ffn_residual", x, d.gated(blk, "", normed, c.feedForwardLength(), Activation.SILU));
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
