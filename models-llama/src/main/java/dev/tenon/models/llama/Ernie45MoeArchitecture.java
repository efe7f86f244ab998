package dev.tenon.models.llama;

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

/// The `ernie4_5-moe` architecture: the ERNIE 4.5 models with experts.
///
/// `llama` whose layers, but for the first ones, have experts, chosen by a softmax plus a bias that takes no part in
/// their weights, which are normalised; beside them a shared one, where the file has it.
@Component(service = ModelArchitecture.class, property = "model.architecture=ernie4_5-moe")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Ernie45MoeArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    private static final int MAX_WIDTH = 1 << 24;
    private static final String STEP = "interleave_moe_layer_step";

    @Override
    public String id() {
        return "ernie4_5-moe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        int step = keys.integerOr(STEP, 1, 1, Integer.MAX_VALUE);
        if (step != 1) {
            throw keys.unsupported(STEP, step, "1, experts in every layer but the first ones");
        }
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SOFTMAX, true);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.INTERLEAVED).build();
        int dense = keys.integerOr("leading_dense_block_count", 0, 0, config.blockCount());
        int shared = keys.integerOr("expert_shared_feed_forward_length", 0, 0, MAX_WIDTH);
        DecoderBlocks d = new DecoderBlocks(source, config).always("exp_probs_b.bias");
        return new ModelDefinition(
                config,
                UsualDecoder.of(
                        d,
                        rope,
                        (blk, layer, x) -> layer < dense
                                ? d.gated(blk, "", x, config.feedForwardLength(), Activation.SILU)
                                : ExpertBlocks.gated(d, blk, x, experts, shared, Activation.SILU)));
    }
}
