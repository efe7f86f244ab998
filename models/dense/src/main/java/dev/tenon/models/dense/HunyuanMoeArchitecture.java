package dev.tenon.models.dense;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import org.osgi.service.component.annotations.Component;

/// The `hunyuan-moe` architecture: Hunyuan A13B.
///
/// Attention as in `hunyuan-dense`. Every layer has experts, chosen by the softmax of their logits and weighed by what
/// the chosen ones have of it, beside a shared one.
@Component(service = ModelArchitecture.class, property = "model.architecture=hunyuan-moe")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class HunyuanMoeArchitecture implements ModelArchitecture {
    private static final String SHARED = "expert_shared_feed_forward_length";
    private static final int MAX_WIDTH = 1 << 24;

    @Override
    public String id() {
        return "hunyuan-moe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = HunyuanDenseArchitecture.config(keys);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SOFTMAX, true);
        int shared = keys.has(SHARED)
                ? keys.integer(SHARED, 1, MAX_WIDTH)
                : keys.integer("feed_forward_length", 1, MAX_WIDTH);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), rope, experts, shared));
    }

    private static Graph graph(DecoderBlocks d, RopeParams rope, ExpertShape experts, int shared) {
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value attended = HunyuanDenseArchitecture.attention(d, blk, normed, layer, rope);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = ExpertBlocks.gated(d, blk, normed, experts, shared, Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
