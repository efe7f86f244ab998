package dev.tenon.models.glm;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import dev.tenon.api.model.blocks.UsualDecoder;
import org.osgi.service.component.annotations.Component;
/// The `glm4moe` architecture: GLM 4.5 to 4.7 and their Air models.
///
/// A decoder with RMSNorm; heads of queries and keys are normed in the large models; of each head a part is
/// rotated, in half-split pairs. The first layers are dense. In the others experts are chosen by the sigmoid of
/// their logits plus a bias that takes no part in their weights; a shared expert serves every token.

@Component(service = ModelArchitecture.class, property = "model.architecture=glm4moe")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Glm4MoeArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 1_000_000;
    private static final int MOST_SHARED = 64;

    @Override
    public String id() {
        return "glm4moe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SIGMOID, true);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        int dense = keys.integerOr("leading_dense_block_count", 0, 0, config.blockCount());
        int shared = keys.integer("expert_shared_count", 1, MOST_SHARED);
        DecoderBlocks d = new DecoderBlocks(source, config).always("exp_probs_b.bias");
        return new ModelDefinition(
                config,
                UsualDecoder.of(
                        d,
                        rope,
                        "post_attention_norm",
                        (blk, layer, x) -> layer < dense
                                ? d.gated(blk, "", x, config.feedForwardLength(), Activation.SILU)
                                : ExpertBlocks.gated(d, blk, x, experts, shared * experts.width(), Activation.SILU)));
    }

    /// The draft block, which guesses a second token.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }
}
