package dev.tenon.models.bailing;

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
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import dev.tenon.api.model.blocks.UsualDecoder;
import org.osgi.service.component.annotations.Component;

/// The `bailingmoe2` architecture: Ling 2.0 and Ring 2.0.
///
/// A decoder whose heads of queries and keys are normed before a part of each is rotated, in half-split pairs;
/// queries, keys and values are rows of one matrix. The first layers are dense. In the others experts are chosen, in
/// groups, by the sigmoid of their logits plus a bias that takes no part in their weights; shared ones serve every
/// token.
@Component(service = ModelArchitecture.class, property = "model.architecture=bailingmoe2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class BailingMoe2Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    private static final int MOST_SHARED = 64;
    private static final int MAX_WIDTH = 1 << 24;

    @Override
    public String id() {
        return "bailingmoe2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SIGMOID, true);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        int dense = keys.integerOr("leading_dense_block_count", 0, 0, config.blockCount());
        int width = keys.integerOr("expert_shared_feed_forward_length", experts.width(), 1, MAX_WIDTH / MOST_SHARED);
        int shared = keys.integer("expert_shared_count", 1, MOST_SHARED) * width;
        DecoderBlocks d = new DecoderBlocks(source, config).always(QkNorm.HEADS).always("exp_probs_b.bias");
        return new ModelDefinition(
                config,
                UsualDecoder.of(
                        d,
                        rope,
                        (blk, layer, x) -> layer < dense
                                ? d.gated(blk, "", x, config.feedForwardLength(), Activation.SILU)
                                : ExpertBlocks.gated(d, blk, x, experts, shared, Activation.SILU)));
    }

    /// The draft block, which guesses a second token.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }
}
