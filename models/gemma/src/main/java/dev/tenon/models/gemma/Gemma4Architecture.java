package dev.tenon.models.gemma;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.ExpertOp.Router;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
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
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `gemma4` architecture: the text part of the Gemma 4 models.
///
/// The blocks of Gemma 3 with attention that differs between layers ([Gemma4Attention]), and a factor on what a layer
/// makes. The small models (E2B, E4B) have a second table of embeddings, with a part for each layer; the one of
/// experts has those beside the usual feed-forward layer, and a router that reads the layer's input as it is.
@Component(service = ModelArchitecture.class, property = "model.architecture=gemma4")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Gemma4Architecture implements ModelArchitecture {
    private static final int MAX_WIDTH = 1 << 24;

    @Override
    public String id() {
        return "gemma4";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ModelConfig config = ModelConfig.readShape(source, LayerKinds.DEFAULT_FREQ_BASE);
        DecoderBlocks blocks = new DecoderBlocks(source, config).always("ffn_down_exps.scale");
        return new ModelDefinition(config, graph(blocks, keys));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        GraphBuilder g = d.graph();
        int layers = d.config().blockCount();
        boolean[] windows = keys.flagPerLayer("attention.sliding_window_pattern", layers);
        Gemma4Attention attention = new Gemma4Attention(d, keys, windows);
        int[] widths = keys.perLayer("feed_forward_length", layers, 1, MAX_WIDTH);
        Optional<ExpertShape> experts = keys.integerOr("expert_count", 0, 0, Integer.MAX_VALUE) == 0
                ? Optional.empty()
                : Optional.of(experts(keys));
        int perLayer = keys.integerOr("embedding_length_per_layer_input", 0, 0, MAX_WIDTH / layers);

        Value x = GemmaBlocks.embedding(d); //                                                        [T, E]
        Value inputs = perLayer == 0 ? null : LayerInputs.of(d, x, perLayer); //                      [T, P * layers]
        for (int layer = 0; layer < layers; layer++) {
            String blk = "blk." + layer + ".";

            Value attended = attention.of(layer, d.rmsNorm(blk + "attn_norm", x));
            x = g.add(blk + "attn_residual", x, d.rmsNorm(blk + "post_attention_norm", attended)); // [T, E]

            Value normed = d.rmsNorm(blk + "ffn_norm", x);
            Value forward = d.gated(blk, "", normed, widths[layer], Activation.GELU_TANH);
            if (experts.isPresent()) {
                Value moe = experts(d, blk, x, experts.get());
                forward = d.rmsNorm(blk + "post_ffw_norm_1", forward);
                forward = g.add(blk + "ffn_both", forward, d.rmsNorm(blk + "post_ffw_norm_2", moe));
            }
            x = g.add(blk + "ffn_residual", x, d.rmsNorm(blk + "post_ffw_norm", forward)); //         [T, E]

            if (perLayer > 0) {
                Value input = g.slice(blk + "input", inputs, 1, layer * perLayer, perLayer);
                x = g.add(blk + "input_residual", x, LayerInputs.gated(d, blk, x, input)); //                [T, E]
            }
            x = scaled(d, blk, x); //                                                                 [T, E]
        }
        float logitCap = GemmaBlocks.cap(keys, "final_logit_softcapping", 0);
        return g.build(GemmaBlocks.logits(d, x, logitCap)); //                                        [L, nVocab]
    }

    private static ExpertShape experts(ModelKeys keys) {
        return ExpertShape.read(keys, "expert_feed_forward_length", Gating.SOFTMAX, true);
    }

    /// The experts read a norm of `x`; what chooses them reads `x` with a norm of its own, divided by the root of
    /// its length.
    private static Value experts(DecoderBlocks d, String blk, Value x, ExpertShape shape) {
        GraphBuilder g = d.graph();
        Weight scale = Weight.vector(blk + "ffn_gate_inp.scale", x.width());
        Value normed = g.rmsNorm(blk + "router_norm", x, scale, d.config().rmsEps());
        Router router = d.router(blk, g.scale(blk + "router_scaled", normed, 1 / LayerInputs.root(x.width())), shape);
        return d.experts(blk, d.rmsNorm(blk + "pre_ffw_norm_2", x), router, shape, Activation.GELU_TANH);
    }

    /// The row times the layer's factor, if the file has one: a weighted sum of a single part.
    private static Value scaled(DecoderBlocks d, String blk, Value x) {
        GraphBuilder g = d.graph();
        return d.vector(blk + "layer_output_scale.weight", 1)
                .map(factor -> g.weightedSum(blk + "layer_out", x, g.repeat(blk + "layer_output_scale", factor)))
                .orElse(x);
    }
}
