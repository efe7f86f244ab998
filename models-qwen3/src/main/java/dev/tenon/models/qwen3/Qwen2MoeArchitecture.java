package dev.tenon.models.qwen3;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import org.osgi.service.component.annotations.Component;

/// The `qwen2moe` architecture: Qwen1.5-MoE-A2.7B and Qwen2-57B-A14B.
///
/// Attention is that of `qwen2`: queries, keys and values have biases. Each token uses a few experts, with the
/// probabilities that a softmax over all of them gives, and a shared one, as far as a sigmoid opens it.
@Component(service = ModelArchitecture.class, property = "model.architecture=qwen2moe")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Qwen2MoeArchitecture implements ModelArchitecture {
    @Override
    public String id() {
        return "qwen2moe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, MoeQwen.DEFAULT_FREQ_BASE);
        ExpertShape shape = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SOFTMAX, false);
        DecoderBlocks d = new DecoderBlocks(source, config).always("attn_q.bias", "attn_k.bias", "attn_v.bias");
        return MoeQwen.define(d, keys, (blk, x) -> SharedExpert.beside(d, keys, blk, x, shape));
    }
}
