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

/// The `glm-dsa` architecture: GLM-5.
///
/// As `deepseek2`, but a token attends only to the positions that an index selects; a layer may use those of the last
/// layer with an index. Experts are selected by the sigmoid of their logits.
@Component(service = ModelArchitecture.class, property = "model.architecture=glm-dsa")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class GlmDsaArchitecture implements ModelArchitecture {
    @Override
    public String id() {
        return "glm-dsa";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        return LatentDecoder.define(source, Gating.SIGMOID, Optional.of(Pairing.INTERLEAVED));
    }

    /// The draft block, which guesses a second token.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }
}
