package dev.tenon.models.granite;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import org.osgi.service.component.annotations.Component;

/// The `granitemoe` architecture: the Granite 3 models with experts.
///
/// `granite` with experts in the place of the feed-forward layer, chosen by a softmax and normalised, beside a shared
/// one where the file has it.
@Component(service = ModelArchitecture.class, property = "model.architecture=granitemoe")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class GraniteMoeArchitecture implements ModelArchitecture {
    @Override
    public String id() {
        return "granitemoe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, GraniteArchitecture.DEFAULT_FREQ_BASE);
        ExpertShape experts = ExpertShape.read(keys, "feed_forward_length", Gating.SOFTMAX, true);
        int shared = GraniteBlocks.sharedWidth(keys);
        return new ModelDefinition(
                config,
                GraniteArchitecture.graph(
                        config,
                        source,
                        (d, blk, x) -> ExpertBlocks.gated(d, blk, x, experts, shared, Activation.SILU)));
    }
}
