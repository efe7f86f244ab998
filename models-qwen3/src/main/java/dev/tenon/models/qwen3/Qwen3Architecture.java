package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import org.osgi.service.component.annotations.Component;

/// The `qwen3` architecture: the dense Qwen 3 models.
///
/// A decoder with RMSNorm, grouped-query attention whose query and key heads are normalised before
/// rotation (QK-norm), rotation of half-split pairs, heads whose length is a hyperparameter of its
/// own, and a SwiGLU feed-forward layer. Without an output matrix the embedding serves. Rerankers have a head
/// for their labels besides.
@Component(service = ModelArchitecture.class, property = "model.architecture=qwen3")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Qwen3Architecture implements ModelArchitecture {
    @Override
    public String id() {
        return "qwen3";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        return DenseQwen.define(source, decoder -> decoder.always(QkNorm.HEADS));
    }
}
