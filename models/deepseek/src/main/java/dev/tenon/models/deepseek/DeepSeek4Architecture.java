package dev.tenon.models.deepseek;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.RouterParams.Gating;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import org.osgi.service.component.annotations.Component;

/// The `deepseek4` architecture: DeepSeek V4.
///
/// Several residual streams ([HyperStreams]), attention to runs of tokens ([RunBlocks]), and experts, whose gates are
/// clamped. In the first blocks a table gives each token its experts.
@Component(service = ModelArchitecture.class, property = "model.architecture=deepseek4")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class DeepSeek4Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;
    private static final int MOST_SHARED = 64;
    private static final double MAX_LIMIT = 1e6;
    private static final String LIMIT = "swiglu_clamp_exp";
    private static final String SHARED_LIMIT = "swiglu_clamp_shexp";

    @Override
    public String id() {
        return "deepseek4";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        DecoderBlocks decoder = new DecoderBlocks(source, config).always("exp_probs_b.bias");
        return new ModelDefinition(config, graph(decoder, keys));
    }

    /// The draft block, which guesses a second token.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return DecoderBlocks.isDraft(source, tensor);
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        int layers = d.config().blockCount();
        ExpertShape experts = ExpertShape.read(keys, "expert_feed_forward_length", Gating.SOFTPLUS_ROOT, true);
        int shared = keys.integer("expert_shared_count", 1, MOST_SHARED) * experts.width();
        int given = keys.integerOr("hash_layer_count", 0, 0, layers);
        float[] limits = keys.numberPerLayer(LIMIT, layers, 0, MAX_LIMIT);
        float[] sharedLimits =
                keys.has(SHARED_LIMIT) ? keys.numberPerLayer(SHARED_LIMIT, layers, 0, MAX_LIMIT) : limits;
        RunBlocks attention = new RunBlocks(d, keys);

        HyperStreams streams = new HyperStreams(d, keys, d.embedding()); //                           [T, n * E]
        for (int layer = 0; layer < layers; layer++) {
            String blk = "blk." + layer + ".";

            Value normed = d.rmsNorm(blk + "attn_norm", streams.read(blk + "hc_attn")); //            [T, E]
            streams.write(blk + "hc_attn", attention.of(layer, normed));

            Value x = d.rmsNorm(blk + "ffn_norm", streams.read(blk + "hc_ffn")); //                   [T, E]
            ExpertOp.Router router = layer < given ? given(d, blk, x, experts) : d.router(blk, x, experts);
            float limit = limits[layer];
            Value chosen =
                    d.experts(blk, x, router, experts, (gate, up) -> hidden(d.graph(), blk, "_exps", gate, up, limit));
            Value gate = d.linear(blk + "ffn_gate_shexp", x, shared);
            Value up = d.linear(blk + "ffn_up_shexp", x, shared);
            Value hidden = hidden(d.graph(), blk, "_shexp", gate, up, sharedLimits[layer]);
            Value both = d.graph().add(blk + "ffn_both", chosen, d.linear(blk + "ffn_down_shexp", hidden, x.width()));
            streams.write(blk + "hc_ffn", both);
        }
        return d.build(streams.last()); //                                                            [L, nVocab]
    }

    /// {@return the choice of a table of tokens}
    private static ExpertOp.Router given(DecoderBlocks d, String blk, Value x, ExpertShape experts) {
        GraphBuilder g = d.graph();
        RouterParams params = experts.router().build();
        Value logits = d.linear(blk + "ffn_gate_inp", x, experts.count());
        Weight table = new Weight(
                blk + "ffn_gate_tid2eid.weight", experts.used(), d.config().vocabularySize());
        Value chosen = g.value(blk + "router_chosen", experts.used());
        Value shares = g.value(blk + "router_shares", experts.used());
        g.add(new GivenExperts(logits, g.embedding(blk + "given", table), params, chosen, shares));
        return new ExpertOp.Router(logits, params, chosen, shares);
    }

    private static Value hidden(GraphBuilder g, String blk, String suffix, Value gate, Value up, float limit) {
        String name = blk + "ffn_hidden" + suffix;
        if (limit == 0) {
            return g.multiply(name, g.activate(blk + "ffn_act" + suffix, gate, Activation.SILU), up);
        }
        Value out = g.value(name, gate.width());
        g.add(new CoreOp.SwigluOai(gate, up, 1, limit, 0, out));
        return out;
    }
}
