package dev.tenon.models.nemotron;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.StateBlocks;
import dev.tenon.api.model.blocks.StateShape;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `nemotron_h_moe` architecture: the Nemotron 3 Nano models.
///
/// Each layer is one of three things: attention without any position where it has key heads, experts where it
/// has a feed-forward width, a Mamba-2 layer otherwise. Experts are two matrices with a squared ReLU between
/// them, chosen by sigmoids with a bias for the choice, beside a shared one.
@Component(service = ModelArchitecture.class, property = "model.architecture=nemotron_h_moe")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class NemotronHMoeArchitecture implements ModelArchitecture {
    private static final int MAX_WIDTH = 1 << 24;

    @Override
    public String id() {
        return "nemotron_h_moe";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = ModelConfig.readShape(source, 10_000);
        return new ModelDefinition(config, graph(config, source));
    }

    private static Graph graph(ModelConfig c, ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        int latent = keys.integerOr("moe_latent_size", 0, 0, MAX_WIDTH);
        if (latent != 0) {
            throw keys.unsupported("moe_latent_size", latent, "experts that work on the whole width");
        }
        DecoderBlocks d = new DecoderBlocks(source, c);
        StateBlocks states = new StateBlocks(d, StateShape.read(keys));
        int[] headsKv = d.headCountsKv();
        int[] widths = keys.perLayer("feed_forward_length", c.blockCount(), 0, MAX_WIDTH);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SIGMOID, true);
        int shared = keys.integer("expert_shared_feed_forward_length", 1, MAX_WIDTH);

        Value x = d.embedding(); //                                                                   [T, E]
        int cached = 0;
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value mixed;
            if (headsKv[layer] > 0) {
                mixed = d.attention(
                        blk,
                        normed,
                        cached++,
                        d.attentionParams(blk, headsKv[layer]).build(),
                        Optional.empty());
            } else if (widths[layer] > 0) {
                mixed = experts(d, blk, normed, experts, shared);
            } else {
                mixed = states.mamba2(blk, normed);
            }
            x = d.graph().add(blk + "residual", x, mixed);
        }
        return d.build(x); //                                                                         [L, nVocab]
    }

    private static Value experts(DecoderBlocks d, String blk, Value x, ExpertShape shape, int sharedWidth) {
        int e = x.width();
        ExpertOp.Router router = d.router(blk, x, shape);
        Value up = d.expert(blk + "ffn_up_exps", x, router, shape, e, shape.width());
        Value hidden = d.graph().activate(blk + "ffn_act_exps", up, Activation.RELU_SQUARED);
        Value down = d.expert(blk + "ffn_down_exps", hidden, router, shape, shape.width(), e);
        Value chosen = d.graph().weightedSum(blk + "ffn_moe", down, router.shares());
        Value everyToken = d.feedForward(blk, "_shexp", x, sharedWidth, Activation.RELU_SQUARED);
        return d.graph().add(blk + "ffn_sum", chosen, everyToken);
    }
}
