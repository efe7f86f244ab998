package dev.tenon.models.phi;

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

/// The `phi3` architecture: the dense Phi 3 and Phi 4 models, with Phi-4-mini.
///
/// A decoder with RMSNorm and a SwiGLU feed-forward layer whose queries, keys and values are rows of one
/// matrix, as are gate and up. Half-split pairs of a head, or of its first part, are rotated; models of long
/// contexts divide the frequencies by factors that depend on the context (LongRoPE, see [RopeKeys]).
///
/// A window (`attention.sliding_window`) is not applied, as in other programs that read these files.
@Component(service = ModelArchitecture.class, property = "model.architecture=phi3")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Phi3Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10000;

    @Override
    public String id() {
        return "phi3";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), rope));
    }

    /// The factors of the other length of a context.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return RopeKeys.isLongRope(tensor);
    }

    private static Graph graph(DecoderBlocks d, RopeParams rope) {
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value attended =
                    d.attention(blk, normed, layer, d.attentionParams(blk).build(), Optional.of(rope));
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = d.gated(blk, "", normed, d.config().feedForwardLength(), Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
