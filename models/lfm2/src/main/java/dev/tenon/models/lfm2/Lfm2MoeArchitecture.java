package dev.tenon.models.lfm2;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.ExpertShape;
import org.osgi.service.component.annotations.Component;

/// The `lfm2moe` architecture: LFM2 models with experts.
///
/// As `lfm2`, but only the first layers have a dense feed-forward layer. The others choose experts by sigmoids
/// with a bias for the choice; the weights of the chosen ones are normalised.
@Component(service = ModelArchitecture.class, property = "model.architecture=lfm2moe")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Lfm2MoeArchitecture implements ModelArchitecture {
    @Override
    public String id() {
        return "lfm2moe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig c = ModelConfig.readShape(source, 10_000);
        ModelKeys keys = ModelKeys.of(source);
        int dense = keys.integerOr("leading_dense_block_count", 0, 0, c.blockCount());
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SIGMOID, true);
        return new ModelDefinition(
                c,
                Lfm2Graph.of(
                        source,
                        c,
                        (d, blk, layer, normed) -> layer < dense
                                ? d.gated(blk, "", normed, c.feedForwardLength(), Activation.SILU)
                                : d.experts(blk, normed, d.router(blk, normed, experts), experts, Activation.SILU)));
    }
}
