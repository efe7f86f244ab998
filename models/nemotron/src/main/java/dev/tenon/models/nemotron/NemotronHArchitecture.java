package dev.tenon.models.nemotron;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import org.osgi.service.component.annotations.Component;

/// The `nemotron_h` architecture: Nemotron-H and Nemotron Nano 2.
///
/// Each layer is one of three things: attention without any position where it has key heads, a feed-forward layer
/// where it has a width for one, a Mamba-2 layer otherwise. The feed-forward layer has no gate; a squared ReLU is
/// between its matrices.
@Component(service = ModelArchitecture.class, property = "model.architecture=nemotron_h")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class NemotronHArchitecture implements ModelArchitecture {
    @Override
    public String id() {
        return "nemotron_h";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        return NemotronGraph.define(
                source, (d, blk, x, width) -> d.feedForward(blk, "", x, width, Activation.RELU_SQUARED));
    }
}
