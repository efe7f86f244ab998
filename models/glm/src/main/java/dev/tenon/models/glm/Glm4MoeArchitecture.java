package dev.tenon.models.glm;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DraftHead;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import dev.tenon.api.model.blocks.UsualDecoder;
import dev.tenon.api.model.blocks.UsualDecoder.FeedForward;
import java.util.Optional;
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
    private static final String SECOND_NORM = "post_attention_norm";

    @Override
    public String id() {
        return "glm4moe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = config(source);
        DecoderBlocks d = blocks(source, config);
        return new ModelDefinition(config, UsualDecoder.of(d, rope(source, config), SECOND_NORM, layers(source, d)));
    }

    @Override
    public Optional<Graph> head(ModelSource source) {
        ModelConfig config = config(source);
        DecoderBlocks d = blocks(source, config);
        return DraftHead.of(
                d,
                (layer, x) -> UsualDecoder.layer(d, layer, 0, x, rope(source, config), SECOND_NORM, layers(source, d)));
    }

    private static ModelConfig config(ModelSource source) {
        return ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
    }

    private static DecoderBlocks blocks(ModelSource source, ModelConfig config) {
        return new DecoderBlocks(source, config).always("exp_probs_b.bias");
    }

    private static RopeParams rope(ModelSource source, ModelConfig config) {
        return RopeKeys.read(ModelKeys.of(source), config, Pairing.HALF_SPLIT).build();
    }

    private static FeedForward layers(ModelSource source, DecoderBlocks d) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SIGMOID, true);
        int dense = keys.integerOr("leading_dense_block_count", 0, 0, d.config().blockCount());
        int shared = keys.integer("expert_shared_count", 1, MOST_SHARED);
        return (blk, layer, x) -> layer < dense
                ? d.gated(blk, "", x, d.config().feedForwardLength(), Activation.SILU)
                : ExpertBlocks.gated(d, blk, x, experts, shared * experts.width(), Activation.SILU);
    }

    /// The draft block is the head, which the logits do not need.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }
}
