package dev.tenon.models.lfm2;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import org.osgi.service.component.annotations.Component;

/// The `lfm2` architecture: the dense LFM2 models.
///
/// A decoder most of whose layers have a gated short convolution in the place of attention. Attention has
/// norms of query and key heads, and rotates half-split pairs. The feed-forward layer is SwiGLU, the
/// embedding is the output matrix. Models that make vectors (`attention.causal` is false) are
/// encoders: their tokens see what follows them, by attention and by a convolution over the tokens around.
@Component(service = ModelArchitecture.class, property = "model.architecture=lfm2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Lfm2Architecture implements ModelArchitecture {
    @Override
    public String id() {
        return "lfm2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig c = ModelConfig.read(source, 10_000);
        return new ModelDefinition(
                c,
                Lfm2Graph.of(
                        source,
                        c,
                        (d, blk, layer, normed) -> d.gated(blk, "", normed, c.feedForwardLength(), Activation.SILU)));
    }
}
