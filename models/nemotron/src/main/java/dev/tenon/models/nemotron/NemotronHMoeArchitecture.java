package dev.tenon.models.nemotron;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
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
        ModelKeys keys = ModelKeys.of(source);
        int latent = keys.integerOr("moe_latent_size", 0, 0, MAX_WIDTH);
        if (latent != 0) {
            throw keys.unsupported("moe_latent_size", latent, "experts that work on the whole width");
        }
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SIGMOID, true);
        int shared = keys.integer("expert_shared_feed_forward_length", 1, MAX_WIDTH);
        return NemotronGraph.define(source, (d, blk, x, width) -> experts(d, blk, x, experts, shared));
    }

    private static Value experts(DecoderBlocks d, String blk, Value x, ExpertShape shape, int sharedWidth) {
        Value chosen = ExpertBlocks.ungated(d, blk, x, shape, Activation.RELU_SQUARED);
        Value everyToken = d.feedForward(blk, "_shexp", x, sharedWidth, Activation.RELU_SQUARED);
        return d.graph().add(blk + "ffn_sum", chosen, everyToken);
    }
}
