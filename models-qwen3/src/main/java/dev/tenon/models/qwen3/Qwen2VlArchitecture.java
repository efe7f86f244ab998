package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import org.osgi.service.component.annotations.Component;

/// The `qwen2vl` architecture: the text part of Qwen 2 VL and 2.5 VL.
///
/// A picture gives each token three positions, each of which rotates one run of a head's pairs
/// (`rope.dimension_sections`). With text alone the three positions are one, and the model is `qwen2`.
@Component(service = ModelArchitecture.class, property = "model.architecture=qwen2vl")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Qwen2VlArchitecture implements ModelArchitecture {
    @Override
    public String id() {
        return "qwen2vl";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        return DenseQwen.define(source, Qwen2Architecture::biased, false);
    }
}
