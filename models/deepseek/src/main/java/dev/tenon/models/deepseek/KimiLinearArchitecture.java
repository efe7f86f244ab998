package dev.tenon.models.deepseek;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `kimi-linear` architecture: Kimi Linear (Kimi Team 2025).
///
/// Layers without key heads have a gated delta rule whose decay is a number for each element of a key, over queries,
/// keys and values that were convolved each by itself; a sigmoid gates its normed result. The others have latent
/// attention without any position. The first layers are dense; in the others experts are chosen by the sigmoid of
/// their logits plus a bias for the choice, beside shared ones.
@Component(service = ModelArchitecture.class, property = "model.architecture=kimi-linear")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class KimiLinearArchitecture implements ModelArchitecture {
    private static final int MOST_SHARED = 64;
    private static final int MAX_WIDTH = 1 << 24;
    private static final int MAX_TAPS = 1 << 10;

    @Override
    public String id() {
        return "kimi-linear";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, 10_000);
        DecoderBlocks decoder = new DecoderBlocks(source, config).always("exp_probs_b.bias");
        return new ModelDefinition(config, graph(decoder, keys));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        ModelConfig c = d.config();
        LatentAttention attention = LatentAttention.read(keys, c, false);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SIGMOID, true);
        int shared = keys.integer("expert_shared_count", 1, MOST_SHARED) * experts.width();
        int dense = keys.integerOr("leading_dense_block_count", 0, 0, c.blockCount());
        int head = keys.integer("kda.head_dim", 1, MAX_WIDTH / (3 * c.headCount()));
        int taps = keys.integer("ssm.conv_kernel", 1, MAX_TAPS);
        int[] headsKv = d.headCountsKv();

        Value x = d.embedding(); //                                                                   [T, E]
        int cached = 0;
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            Value normed = d.rmsNorm(blk + "attn_norm", x);
            Value mixed = headsKv[layer] == 0
                    ? deltaRule(d, blk, normed, head, taps)
                    : attention.of(d, blk, normed, cached++);
            x = d.graph().add(blk + "residual", x, mixed); //                                         [T, E]

            normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = layer < dense
                    ? d.gated(blk, "", normed, c.feedForwardLength(), Activation.SILU)
                    : ExpertBlocks.gated(d, blk, normed, experts, shared, Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }

    private static Value deltaRule(DecoderBlocks d, String blk, Value x, int head, int taps) {
        GraphBuilder g = d.graph();
        int heads = d.config().headCount();
        int width = heads * head;
        Value qk =
                g.join(blk + "qk", convolved(d, blk, "q", x, width, taps), convolved(d, blk, "k", x, width, taps), 1);
        Value qkv = g.join(blk + "qkv", qk, convolved(d, blk, "v", x, width, taps), 1); //            [T, 3 * H * S]
        Value decay = d.linear(blk + "ssm_f_b", d.linear(blk + "ssm_f_a", x, head), width); //        [T, H * S]
        Value strength = d.linear(blk + "ssm_beta", x, heads); //                                     [T, H]
        Value corrected = g.value(blk + "delta", width);
        g.add(new StateOp.GatedDeltaRule(
                qkv,
                decay,
                strength,
                new Weight(blk + "ssm_a", 1, heads),
                Weight.vector(blk + "ssm_dt.bias", width),
                heads,
                StateOp.KeyHeads.BLOCK,
                d.config().rmsEps(),
                corrected));
        Value open = d.linear(blk + "ssm_g_b", d.linear(blk + "ssm_g_a", x, head), width);
        Value gated = g.multiply(
                blk + "delta_gated",
                d.rmsNorm(blk + "ssm_norm", corrected, head),
                g.activate(blk + "delta_open", open, Activation.SIGMOID));
        return d.linear(blk + "attn_output", gated, x.width()); //                                    [T, E]
    }

    private static Value convolved(DecoderBlocks d, String blk, String of, Value x, int width, int taps) {
        String name = blk + "ssm_conv1d_" + of;
        Value projected = d.linear(blk + "attn_" + of, x, width);
        Weight weight = new Weight(name + ".weight", taps, width);
        Value out = d.graph().shortConvolution(name, projected, weight, Optional.empty());
        return d.graph().activate(name + "_act", out, Activation.SILU);
    }
}
