package dev.tenon.models.granite;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.RopeParams;
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
import dev.tenon.api.model.blocks.StateBlocks;
import dev.tenon.api.model.blocks.StateShape;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `granitehybrid` architecture: the Granite 4 H models.
///
/// A decoder whose layers without key heads are Mamba-2 layers, the others attention, mostly without any
/// position. Each has a SwiGLU feed-forward layer, or experts beside a shared one. The factors are those of
/// `granite`.
@Component(service = ModelArchitecture.class, property = "model.architecture=granitehybrid")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class GraniteHybridArchitecture implements ModelArchitecture {
    @Override
    public String id() {
        return "granitehybrid";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = ModelConfig.readShape(source, GraniteArchitecture.DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(config, source));
    }

    private static Graph graph(ModelConfig c, ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        GraniteBlocks g = new GraniteBlocks(source, c);
        DecoderBlocks d = g.decoder();
        StateBlocks states = new StateBlocks(d, StateShape.read(keys));
        int[] headsKv = d.headCountsKv();
        Optional<RopeParams> rope = g.rope();
        Optional<ExpertShape> experts = keys.integerOr("expert_count", 0, 0, Integer.MAX_VALUE) == 0
                ? Optional.empty()
                : Optional.of(ExpertShape.read(keys, "feed_forward_length", Gating.SOFTMAX, true));
        int shared = GraniteBlocks.sharedWidth(keys);

        Value x = g.embedding(); //                                                                   [T, E]
        int cached = 0;
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value mixed = headsKv[layer] == 0
                    ? states.mamba2(blk, normed)
                    : d.attention(blk, normed, cached++, g.attention(headsKv[layer]), rope);
            x = g.add(blk + "residual", x, mixed);
            normed = d.rmsNorm(blk + "ffn_norm", x);
            x = g.add(blk + "ffn_residual", x, feedForward(d, blk, normed, experts, shared));
        }
        return g.build(x); //                                                                         [L, nVocab]
    }

    private static Value feedForward(
            DecoderBlocks d, String blk, Value x, Optional<ExpertShape> experts, int sharedWidth) {
        if (experts.isEmpty()) {
            return d.gated(blk, "", x, d.config().feedForwardLength(), Activation.SILU);
        }
        return ExpertBlocks.gated(d, blk, x, experts.get(), sharedWidth, Activation.SILU);
    }
}
