package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import org.osgi.service.component.annotations.Component;

/// The `qwen2` architecture: the dense Qwen 2 and 2.5 models, and those distilled into them.
///
/// The decoder of `qwen3` with biases on queries, keys and values in place of QK-norm.
@Component(service = ModelArchitecture.class, property = "model.architecture=qwen2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Qwen2Architecture implements ModelArchitecture {
    @Override
    public String id() {
        return "qwen2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        return DenseQwen.define(source, Qwen2Architecture::biased);
    }

    static DecoderBlocks biased(DecoderBlocks decoder) {
        return decoder.always("attn_q.bias", "attn_k.bias", "attn_v.bias");
    }
}
