package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import org.osgi.service.component.annotations.Component;

/// The `qwen3vl` architecture: the text part of the Qwen 3 models that see pictures.
///
/// A picture would give each token three positions, each of which rotates a section of a head
/// (`rope.dimension_sections`), and add to the residual stream after the first blocks
/// (`n_deepstack_layers`). With text alone the three positions are one, and the model is `qwen3`.
@Component(service = ModelArchitecture.class, property = "model.architecture=qwen3vl")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Qwen3VlArchitecture implements ModelArchitecture {
    @Override
    public String id() {
        return "qwen3vl";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        return DenseQwen.define(source, decoder -> decoder.always(QkNorm.HEADS));
    }
}
