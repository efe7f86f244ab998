package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import dev.tenon.api.model.blocks.ExpertShape;
import org.osgi.service.component.annotations.Component;

/// The `qwen3moe` architecture: the Qwen 3 models with experts, such as 30B-A3B.
///
/// Attention is that of `qwen3`: heads of queries and keys are normed before half-split pairs are rotated. Each
/// token uses a few experts; the weights of the chosen ones add up to 1.
@Component(service = ModelArchitecture.class, property = "model.architecture=qwen3moe")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Qwen3MoeArchitecture implements ModelArchitecture {
    @Override
    public String id() {
        return "qwen3moe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, MoeQwen.DEFAULT_FREQ_BASE);
        ExpertShape shape = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SOFTMAX, true);
        DecoderBlocks d = new DecoderBlocks(source, config).always(QkNorm.HEADS);
        return MoeQwen.define(d, keys, (blk, x) -> d.experts(blk, x, d.router(blk, x, shape), shape, Activation.SILU));
    }
}
