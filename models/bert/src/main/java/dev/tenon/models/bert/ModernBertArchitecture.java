package dev.tenon.models.bert;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.EncoderHead;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `modern-bert` architecture: ModernBERT (Warner et al. 2024) and the encoders made of it.
///
/// Norms before the sums, without biases, none before the first attention; rotation of half-split pairs;
/// every third layer, from the first one on, sees the whole text, the others a symmetric window with a
/// rotation of their own; a gated GELU feed-forward layer whose two matrices are one tensor.
@Component(service = ModelArchitecture.class, property = "model.architecture=modern-bert")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class ModernBertArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 160_000;
    private static final float DEFAULT_FREQ_BASE_OF_WINDOWS = 10_000;
    private static final double MAX_FREQ_BASE = 1e15;
    private static final int LAYERS_OF_A_PERIOD = 3;

    @Override
    public String id() {
        return "modern-bert";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = Encoders.keys(source);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config), keys));
    }

    private static Graph graph(DecoderBlocks b, ModelKeys keys) {
        GraphBuilder g = b.graph();
        ModelConfig c = b.config();
        Activation activation = activation(keys);
        int window = keys.integer("attention.sliding_window", 1, Integer.MAX_VALUE);
        RopeParams rope = RopeKeys.read(keys, c, Pairing.HALF_SPLIT).build();
        float base = keys.numberOr("rope.freq_base_swa", DEFAULT_FREQ_BASE_OF_WINDOWS, 1, MAX_FREQ_BASE);
        RopeParams ropeOfWindows =
                RopeKeys.plain(keys, c, Pairing.HALF_SPLIT, base).build();

        Value x = b.layerNorm("token_embd_norm", b.embedding()); //                              [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            boolean whole = layer % LAYERS_OF_A_PERIOD == 0;
            AttentionParams params = b.attentionParams(blk)
                    .causal(false)
                    .slidingWindow(whole ? 0 : window)
                    .build();

            Value normed = layer == 0 ? x : b.layerNorm(blk + "attn_norm", x);
            Value attended = b.attention(blk, normed, layer, params, Optional.of(whole ? rope : ropeOfWindows));
            x = g.add(blk + "attn_residual", x, attended);

            normed = b.layerNorm(blk + "ffn_norm", x);
            x = g.add(blk + "ffn_residual", x, b.gated(blk, "", normed, c.feedForwardLength(), activation));
        }
        return EncoderHead.build(b, keys, b.layerNorm("output_norm", x));
    }

    private static Activation activation(ModelKeys keys) {
        String name = keys.text("hidden_activation", "gelu");
        return switch (name) {
            case "gelu", "gelu_tanh", "gelu_new" -> Activation.GELU_TANH;
            case "silu" -> Activation.SILU;
            default -> throw keys.unsupported("hidden_activation", name, "gelu and silu");
        };
    }
}
