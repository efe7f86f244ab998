package dev.tenon.models.deepseek;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `deepseek32` architecture: DeepSeek V3.2.
///
/// As `deepseek2`, but a token attends only to the positions that an index selects. Each layer has an index of its own,
/// which pairs elements half a head apart in rotations; attention pairs neighbours.
@Component(service = ModelArchitecture.class, property = "model.architecture=deepseek32")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class DeepSeek32Architecture implements ModelArchitecture {
    @Override
    public String id() {
        return "deepseek32";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        return LatentDecoder.define(source, Gating.SIGMOID, Optional.of(Pairing.HALF_SPLIT));
    }

    /// The draft block, which guesses a second token.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }
}
