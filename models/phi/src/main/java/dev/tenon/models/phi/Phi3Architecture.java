package dev.tenon.models.phi;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import dev.tenon.api.model.blocks.UsualDecoder;
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
        DecoderBlocks d = new DecoderBlocks(source, config);
        return new ModelDefinition(
                config,
                UsualDecoder.of(
                        d, rope, (blk, layer, x) -> d.gated(blk, "", x, config.feedForwardLength(), Activation.SILU)));
    }

    /// The factors of the other length of a context.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return RopeKeys.isLongRope(tensor);
    }
}
