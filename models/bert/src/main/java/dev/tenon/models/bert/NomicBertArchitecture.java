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

/// The `nomic-bert` architecture: nomic-embed-text (Nussbaum et al. 2024).
///
/// BERT without vectors of positions and without biases: one matrix for queries, keys and values, rotation of
/// half-split pairs, a SwiGLU feed-forward layer.
@Component(service = ModelArchitecture.class, property = "model.architecture=nomic-bert")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class NomicBertArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 1000;

    @Override
    public String id() {
        return "nomic-bert";
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
        RopeParams rope = RopeKeys.read(keys, c, Pairing.HALF_SPLIT).build();

        Value x = g.add("embd_typed", b.embedding(), Encoders.tokenType(b, keys)); //           [T, E]
        x = b.layerNorm("token_embd_norm", x);
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            AttentionParams params = b.attentionParams(blk).causal(false).build();

            Value attended = b.attention(blk, x, layer, params, Optional.of(rope));
            x = b.layerNorm(blk + "attn_output_norm", g.add(blk + "attn_residual", x, attended));

            Value down = b.gated(blk, "", x, c.feedForwardLength(), Activation.SILU);
            x = b.layerNorm(blk + "layer_output_norm", g.add(blk + "ffn_residual", x, down));
        }
        return EncoderHead.build(b, keys, x);
    }
}
