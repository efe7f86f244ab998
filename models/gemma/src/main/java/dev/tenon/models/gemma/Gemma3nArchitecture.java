package dev.tenon.models.gemma;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.ExpertShape;
import java.util.stream.IntStream;
import org.osgi.service.component.annotations.Component;

/// The `gemma3n` architecture: the text part of Gemma 3n (E2B and E4B).
///
/// The residual stream is several side by side ([AltUp]), of which a layer works on the first. Beside attention there
/// is a product of low rank; of the gates of the first layers only those far above their mean stay. Attention is that
/// of `gemma4`, and so are inputs of single layers, which all streams but the first get.
@Component(service = ModelArchitecture.class, property = "model.architecture=gemma3n")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Gemma3nArchitecture implements ModelArchitecture {
    private static final int MAX_WIDTH = 1 << 24;
    private static final int DEFAULT_PERIOD = 5;
    private static final int LOW_RANK = 64;
    private static final float LOGIT_CAP = 30;
    private static final String PATTERN = "attention.sliding_window_pattern";
    private static final double MAX_DEVIATIONS = 1e3;

    @Override
    public String id() {
        return "gemma3n";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, LayerKinds.DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), keys));
    }

    /// Keys and values of layers that read those of others: files have them.
    @Override
    public boolean ignores(ModelSource source, String tensor) {
        ModelKeys keys = ModelKeys.of(source);
        int layers = keys.integer("block_count", 1, Integer.MAX_VALUE);
        int shared = keys.integerOr("attention.shared_kv_layers", 0, 0, layers - 1);
        return IntStream.range(layers - shared, layers)
                .mapToObj(layer -> "blk." + layer + ".attn_")
                .anyMatch(name -> tensor.startsWith(name + "k") || tensor.startsWith(name + "v"));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        GraphBuilder g = d.graph();
        int layers = d.config().blockCount();
        Gemma4Attention attention = new Gemma4Attention(d, keys, windows(keys, layers));
        int[] widths = keys.perLayer("feed_forward_length", layers, 1, MAX_WIDTH);
        float[] deviations = keys.numberPerLayer("activation_sparsity_scale", layers, 0, MAX_DEVIATIONS);
        int perLayer = keys.integer("embedding_length_per_layer_input", 1, MAX_WIDTH / layers);

        Value x = GemmaBlocks.embedding(d); //                                                        [T, E]
        Value inputs = LayerInputs.of(d, x, perLayer); //                                             [T, P * layers]
        AltUp streams = new AltUp(d, keys, x);
        for (int layer = 0; layer < layers; layer++) {
            String blk = "blk." + layer + ".";

            Value active = streams.predict(blk); //                                                   [T, E]
            Value normed = d.rmsNorm(blk + "attn_norm", active);
            Value low = d.linear(blk + "laurel_r", d.linear(blk + "laurel_l", normed, LOW_RANK), x.width());
            low = g.add(blk + "laurel_out", normed, d.rmsNorm(blk + "laurel_post_norm", low));
            Value attended = d.rmsNorm(blk + "post_attention_norm", attention.of(layer, normed));
            Value both = g.add(blk + "attn_both", g.add(blk + "attn_residual", active, attended), low);
            Value mixed = g.scale(blk + "attn_out", both, 1 / LayerInputs.root(2)); //                [T, E]

            Value forward = forward(d, blk, d.rmsNorm(blk + "ffn_norm", mixed), widths[layer], deviations[layer]);
            Value made = g.add(blk + "ffn_residual", mixed, d.rmsNorm(blk + "post_ffw_norm", forward));

            Value first = streams.correct(blk, made); //                                              [T, E]
            Value scale = g.repeat(blk + "altup_scale", Weight.vector(blk + "altup_correct_scale.weight", x.width()));
            Value input = g.slice(blk + "input", inputs, 1, layer * perLayer, perLayer);
            streams.addToOthers(blk, LayerInputs.gated(d, blk, g.multiply(blk + "altup_first", first, scale), input));
        }
        float logitCap = GemmaBlocks.cap(keys, "final_logit_softcapping", LOGIT_CAP);
        return g.build(GemmaBlocks.logits(d, streams.mean(), logitCap)); //                           [L, nVocab]
    }

    /// Of each period of layers the last sees everything.
    private static boolean[] windows(ModelKeys keys, int layers) {
        if (keys.isArray(PATTERN)) {
            return keys.flagPerLayer(PATTERN, layers);
        }
        int period = keys.integerOr(PATTERN, DEFAULT_PERIOD, 1, Integer.MAX_VALUE);
        boolean[] windows = new boolean[layers];
        for (int layer = 0; layer < layers; layer++) {
            windows[layer] = layer % period < period - 1;
        }
        return windows;
    }

    private static Value forward(DecoderBlocks d, String blk, Value x, int width, float deviations) {
        if (deviations == 0) {
            return d.gated(blk, "", x, width, Activation.GELU_TANH);
        }
        GraphBuilder g = d.graph();
        Value gate = above(g, blk, d.linear(blk + "ffn_gate", x, width), deviations);
        Value hidden = g.multiply(
                blk + "ffn_hidden",
                g.activate(blk + "ffn_act", gate, Activation.GELU_TANH),
                d.linear(blk + "ffn_up", x, width));
        return d.linear(blk + "ffn_down", hidden, x.width());
    }

    /// What of each element is above the mean of its row by a number of standard deviations of a sample, or 0.
    private static Value above(GraphBuilder g, String blk, Value x, float deviations) {
        Value mean = g.groupMean(blk + "ffn_mean", x, 1);
        Value centred = g.add(blk + "ffn_centred", x, g.scale(blk + "ffn_minus_mean", mean, -1));
        Value deviation = AltUp.rootMeanSquare(g, blk + "ffn_deviation", centred);
        float sample = (float) (-deviations * Math.sqrt(x.width() / Math.max(1, x.width() - 1.0)));
        Value least = g.scale(blk + "ffn_least", deviation, sample);
        return g.activate(blk + "ffn_above", g.add(blk + "ffn_difference", centred, least), Activation.RELU);
    }
}
