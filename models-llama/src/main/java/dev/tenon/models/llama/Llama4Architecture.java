package dev.tenon.models.llama;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.ExpertOp.Router;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
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
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import org.osgi.service.component.annotations.Component;

/// The `llama4` architecture: Llama 4 Scout and Maverick, as far as text goes.
///
/// Three of four layers rotate neighbouring pairs, norm heads of queries and keys after that, and attend within runs
/// of 8192 positions. Every fourth layer does not know positions, sees all, and scales queries by their position.
/// Every `interleave_moe_layer_step`-th layer has experts, of which a token uses one in all published models, and a
/// shared expert; the weight of a chosen one multiplies what goes into it.
@Component(service = ModelArchitecture.class, property = "model.architecture=llama4")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Llama4Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 500_000;
    private static final int MAX_STEP = 4096;
    /// Positions of a run, after which the scale of queries grows, too.
    private static final int RUN = 8192;

    private static final float SCALE_GAIN = 0.1f;
    /// Maverick, known by its number of experts, does not norm queries and keys.
    private static final int EXPERTS_OF_MAVERICK = 128;

    @Override
    public String id() {
        return "llama4";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SIGMOID, false);
        int step = keys.integerOr("interleave_moe_layer_step", 1, 1, MAX_STEP);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.INTERLEAVED).build();
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), experts, step, rope));
    }

    private static Graph graph(DecoderBlocks d, ExpertShape experts, int step, RopeParams rope) {
        boolean norms = experts.count() != EXPERTS_OF_MAVERICK;
        Value x = d.embedding(); //                                                                   [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value attended = attention(d, blk, d.rmsNorm(blk + "attn_norm", x), layer, rope, norms);
            x = d.graph().add(blk + "attn_residual", x, attended); //                                 [T, E]

            Value normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = (layer + 1) % step == 0
                    ? experts(d, blk, normed, experts)
                    : d.gated(blk, "", normed, d.config().feedForwardLength(), Activation.SILU);
            x = d.graph().add(blk + "ffn_residual", x, forward); //                                   [T, E]
        }
        return d.build(x); //                                                                         [L, nVocab]
    }

    private static Value attention(DecoderBlocks d, String blk, Value x, int layer, RopeParams rope, boolean norms) {
        GraphBuilder g = d.graph();
        ModelConfig c = d.config();
        Value q = d.linear(blk + "attn_q", x, c.headCount() * c.keyLength()); //                      [T, H * K]
        Value k = d.linear(blk + "attn_k", x, c.headCountKv() * c.keyLength()); //                    [T, Hkv * K]
        Value v = d.linear(blk + "attn_v", x, c.headCountKv() * c.valueLength()); //                  [T, Hkv * V]
        AttentionParams.Builder params = d.attentionParams(blk);
        if ((layer + 1) % 4 == 0) {
            q = g.positionScale(blk + "q_scaled", q, SCALE_GAIN, 1, RUN);
        } else {
            params.chunk(RUN);
            q = g.rope(blk + "q_rope", q, rope);
            k = g.rope(blk + "k_rope", k, rope);
            if (norms) {
                q = g.plainRmsNorm(blk + "q_norm", q, c.headCount(), c.rmsEps());
                k = g.plainRmsNorm(blk + "k_norm", k, c.headCountKv(), c.rmsEps());
            }
        }
        Value attended = g.attention(blk + "attn", q, k, v, layer, params.build()); //                [T, H * V]
        return d.linear(blk + "attn_output", attended, c.embeddingLength()); //                       [T, E]
    }

    /// An expert's weight multiplies what it reads, not its result.
    private static Value experts(DecoderBlocks d, String blk, Value x, ExpertShape experts) {
        GraphBuilder g = d.graph();
        int width = d.config().embeddingLength();
        Router router = d.router(blk, x, experts);
        Value weighted = weighted(g, blk, x, router.shares()); //                                     [T, used * E]
        Value gate = d.expert(blk + "ffn_gate_exps", weighted, router, experts, width, experts.width());
        Value up = d.expert(blk + "ffn_up_exps", weighted, router, experts, width, experts.width());
        Value hidden = g.multiply(blk + "ffn_hidden_exps", g.activate(blk + "ffn_act_exps", gate, Activation.SILU), up);
        Value down = d.expert(blk + "ffn_down_exps", hidden, router, experts, experts.width(), width);
        Value chosen = sum(g, blk, down, experts.used()); //                                          [T, E]
        Value shared = d.gated(blk, "_shexp", x, experts.width(), Activation.SILU);
        return g.add(blk + "ffn_both", chosen, shared); //                                            [T, E]
    }

    /// A row for each of a token's experts: with a single weight, the weighted sum is the product.
    private static Value weighted(GraphBuilder g, String blk, Value x, Value shares) {
        if (shares.width() == 1) {
            return g.weightedSum(blk + "ffn_weighted", x, shares);
        }
        Value all = null;
        for (int k = 0; k < shares.width(); k++) {
            Value share = g.slice(blk + "ffn_share." + k, shares, 1, k, 1);
            Value row = g.weightedSum(blk + "ffn_weighted." + k, x, share);
            all = all == null ? row : g.join(blk + "ffn_weighted.to." + k, all, row, 1);
        }
        return all;
    }

    private static Value sum(GraphBuilder g, String blk, Value parts, int count) {
        if (count == 1) {
            return parts;
        }
        int width = parts.width() / count;
        Value sum = g.slice(blk + "ffn_part.0", parts, 1, 0, width);
        for (int k = 1; k < count; k++) {
            Value part = g.slice(blk + "ffn_part." + k, parts, 1, k * width, width);
            sum = g.add(blk + "ffn_chosen." + k, sum, part);
        }
        return sum;
    }
}
