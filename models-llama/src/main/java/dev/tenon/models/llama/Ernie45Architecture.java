package dev.tenon.models.llama;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import org.osgi.service.component.annotations.Component;

/// The `ernie4_5` architecture: the dense ERNIE 4.5 models.
///
/// `llama` by another name.
@Component(service = ModelArchitecture.class, property = "model.architecture=ernie4_5")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Ernie45Architecture implements ModelArchitecture {
    private final LlamaArchitecture llama = new LlamaArchitecture();

    @Override
    public String id() {
        return "ernie4_5";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        return llama.define(source);
    }
}
