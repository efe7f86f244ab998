package dev.tenon.models.phi;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import dev.tenon.api.model.blocks.UsualDecoder;
import org.osgi.service.component.annotations.Component;

/// The `phimoe` architecture: Phi-3.5-MoE.
///
/// A decoder whose RMS norms, projections and output have biases, with LongRoPE as in `phi3`, and experts in the
/// place of the feed-forward layer, chosen by a softmax and normalised.
@Component(service = ModelArchitecture.class, property = "model.architecture=phimoe")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class PhiMoeArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;

    @Override
    public String id() {
        return "phimoe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        ExpertShape experts = ExpertShape.read(keys, "feed_forward_length", Gating.SOFTMAX, true);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        DecoderBlocks d = new DecoderBlocks(source, config).always("attn_norm.bias", "ffn_norm.bias");
        return new ModelDefinition(
                config,
                UsualDecoder.of(
                        d, rope, (blk, layer, x) -> ExpertBlocks.gated(d, blk, x, experts, 0, Activation.SILU)));
    }

    /// The factors of the other length of a context.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return RopeKeys.isLongRope(tensor);
    }
}
