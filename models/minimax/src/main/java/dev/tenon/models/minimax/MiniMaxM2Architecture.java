package dev.tenon.models.minimax;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.ExpertOp.Router;
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
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `minimax-m2` architecture: MiniMax M2.
///
/// Queries and keys are normed over all heads together; of each head a part is rotated, in half-split pairs.
/// Experts are chosen by the sigmoid of their logits plus a bias that takes no part in their weights, which add up
/// to 1.
@Component(service = ModelArchitecture.class, property = "model.architecture=minimax-m2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class MiniMaxM2Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 5_000_000;

    @Override
    public String id() {
        return "minimax-m2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SIGMOID, true);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build();
        DecoderBlocks decoder =
                new DecoderBlocks(source, config).always(QkNorm.ROWS).always("exp_probs_b.bias");
        return new ModelDefinition(config, graph(decoder, experts, rope));
    }

    private static Graph graph(DecoderBlocks d, ExpertShape experts, RopeParams rope) {
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value attended =
                    d.attention(blk, normed, layer, d.attentionParams(blk).build(), Optional.of(rope));
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Router router = d.router(blk, normed, experts);
            Value mixed = d.experts(blk, normed, router, experts, Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, mixed); //                                     [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }
}
