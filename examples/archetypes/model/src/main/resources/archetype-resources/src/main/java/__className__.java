package ${package};

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `${id}` architecture: a pure function from metadata to a graph.
///
/// As it is, the plain decoder: norm, attention with rotated queries and keys, residual; norm, gated feed-forward layer, residual.
@Component(service = ModelArchitecture.class, property = "model.architecture=${id}")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class ${className} implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10_000;

    @Override
    public String id() {
        return "${id}";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = ModelConfig.read(source, DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(config, source));
    }

    /// Comments give the shapes: T tokens, E embedding, H heads, K and V their lengths, F feed-forward, L wanted rows.
    private static Graph graph(ModelConfig c, ModelSource source) {
        GraphBuilder g = new GraphBuilder(c.architecture());
        float scale = (float) (1 / Math.sqrt(c.keyLength()));
        RopeParams rope = RopeParams.builder(c.keyLength(), Pairing.HALF_SPLIT, c.ropeFreqBase()).ropeDim(c.ropeDim()).freqScale(c.ropeFreqScale()).build();

        Weight embedding = new Weight("token_embd.weight", c.embeddingLength(), c.vocabularySize());
        Value x = g.embedding("embd", embedding); //                                                [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = norm(g, c, x, blk + "attn_norm");
            Value q = projection(g, normed, blk + "attn_q", c.headCount() * c.keyLength()); //      [T, H * K]
            Value k = projection(g, normed, blk + "attn_k", c.headCountKv() * c.keyLength()); //    [T, Hkv * K]
            Value v = projection(g, normed, blk + "attn_v", c.headCountKv() * c.valueLength()); //  [T, Hkv * V]
            q = g.rope(blk + "q_rope", q, rope);
            k = g.rope(blk + "k_rope", k, rope);
            Value attended =
                    g.attention(blk + "attn", q, k, v, layer, c.headCount(), c.headCountKv(), scale); // [T, H * V]
            x = g.add(blk + "attn_residual", x, projection(g, attended, blk + "attn_output", c.embeddingLength()));

            normed = norm(g, c, x, blk + "ffn_norm");
            Value gate = projection(g, normed, blk + "ffn_gate", c.feedForwardLength()); //         [T, F]
            Value up = projection(g, normed, blk + "ffn_up", c.feedForwardLength()); //             [T, F]
            Value hidden = g.multiply(blk + "ffn_hidden", g.activate(blk + "ffn_act", gate, Activation.SILU), up);
            x = g.add(blk + "ffn_residual", x, projection(g, hidden, blk + "ffn_down", c.embeddingLength()));
        }
        x = norm(g, c, g.selectRows("selected", x), "output_norm"); //                              [L, E]
        Weight head = source.has("output.weight")
                ? new Weight("output.weight", c.embeddingLength(), c.vocabularySize())
                : embedding;
        return g.build(g.linear("logits", x, head, Optional.empty())); //                           [L, nVocab]
    }

    private static Value norm(GraphBuilder g, ModelConfig c, Value x, String name) {
        return g.rmsNorm(name, x, Weight.vector(name + ".weight", x.width()), c.rmsEps());
    }

    private static Value projection(GraphBuilder g, Value x, String name, int rows) {
        return g.linear(name, x, new Weight(name + ".weight", x.width(), rows), Optional.empty());
    }
}
