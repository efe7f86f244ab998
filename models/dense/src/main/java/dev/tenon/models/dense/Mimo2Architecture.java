package dev.tenon.models.dense;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
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
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `mimo2` architecture: MiMo-V2 and V2.5.
///
/// Values are shorter than keys, of which a part is rotated, in half-split pairs. Layers with a window
/// (`attention.sliding_window_pattern`) have key heads of their own number, a rotation of their own base, and sinks.
/// Attention is multiplied by `attention.value_scale`. A layer with a router has experts, chosen by the sigmoid of
/// their logits plus a bias that takes no part in their weights, which add up to 1.
@Component(service = ModelArchitecture.class, property = "model.architecture=mimo2")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Mimo2Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    private static final double MAX_FREQ_BASE = 1e15;
    private static final double MAX_SCALE = 1e6;

    @Override
    public String id() {
        return "mimo2";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), ModelKeys.of(source)));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        ModelConfig c = d.config();
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SIGMOID, true);
        boolean[] windows = keys.flagPerLayer("attention.sliding_window_pattern", c.blockCount());
        int window = keys.integer("attention.sliding_window", 1, Integer.MAX_VALUE);
        float scale = keys.numberOr("attention.value_scale", 1, 0, MAX_SCALE);
        int[] headCountsKv = d.headCountsKv();
        float base = keys.numberOr("rope.freq_base_swa", c.ropeFreqBase(), 1, MAX_FREQ_BASE);
        Optional<RopeParams> rope = rope(keys, c);
        Optional<RopeParams> ropeOfWindows =
                rope(keys, c.toBuilder().ropeFreqBase(base).build());

        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", x);
            AttentionParams params = d.attentionParams(blk, headCountsKv[layer])
                    .slidingWindow(windows[layer] ? window : 0)
                    .build();
            Value attended = d.attention(blk, normed, layer, params, windows[layer] ? ropeOfWindows : rope);
            attended = scale == 1 ? attended : d.graph().scale(blk + "attn_scaled", attended, scale);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = keys.source().has(blk + "ffn_gate_inp.weight")
                    ? ExpertBlocks.gated(d, blk, normed, experts, 0, Activation.SILU)
                    : d.gated(blk, "", normed, c.feedForwardLength(), Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }

    private static Optional<RopeParams> rope(ModelKeys keys, ModelConfig config) {
        return Optional.of(RopeKeys.read(keys, config, Pairing.HALF_SPLIT).build());
    }

    /// Draft blocks, which the logits do not need.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }
}
