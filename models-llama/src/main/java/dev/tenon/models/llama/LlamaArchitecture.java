package dev.tenon.models.llama;

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
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.ExpertShape;
import dev.tenon.api.model.blocks.RopeKeys;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `llama` architecture: Llama 2 and 3, Mistral and whatever else is converted to that name.
///
/// A decoder with RMSNorm, grouped-query attention, rotation of neighbouring pairs, and a SwiGLU
/// feed-forward layer. Optional: an output matrix of its own (else the embedding serves), a scaled
/// rotation ([RopeKeys]; its factors in `rope_freqs.weight` since Llama 3.1), biases on the attention
/// projections.
@Component(service = ModelArchitecture.class, property = "model.architecture=llama")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class LlamaArchitecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 10000;

    @Override
    public String id() {
        return "llama";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        ModelConfig config = ModelConfig.readShape(source, DEFAULT_FREQ_BASE);
        RopeParams rope = RopeKeys.read(keys, config, Pairing.INTERLEAVED).build();
        return new ModelDefinition(config, graph(config, source, rope));
    }

    private static Graph graph(ModelConfig c, ModelSource source, RopeParams rope) {
        GraphBuilder g = new GraphBuilder(c.architecture());
        int qWidth = c.headCount() * c.keyLength();
        int kWidth = c.headCountKv() * c.keyLength();
        int vWidth = c.headCountKv() * c.valueLength();
        float scale = (float) (1 / Math.sqrt(c.keyLength()));

        Weight embedding = new Weight("token_embd.weight", c.embeddingLength(), c.vocabularySize());
        Value x = g.embedding("embd", embedding); //                                                  [T, E]
        if (source.rowWidth() > 0) {
            x = g.replaceRows("inputs", x);
        }
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = norm(g, c, x, blk + "attn_norm");
            Value q = projection(g, source, normed, blk + "attn_q", qWidth); //                       [T, H * K]
            Value k = projection(g, source, normed, blk + "attn_k", kWidth); //                       [T, Hkv * K]
            Value v = projection(g, source, normed, blk + "attn_v", vWidth); //                       [T, Hkv * V]
            q = g.rope(blk + "q_rope", q, rope);
            k = g.rope(blk + "k_rope", k, rope);
            Value attended =
                    g.attention(blk + "attn", q, k, v, layer, c.headCount(), c.headCountKv(), scale); // [T, H * V]
            Value projected = projection(g, source, attended, blk + "attn_output", c.embeddingLength());
            x = g.add(blk + "attn_residual", x, projected); //                                        [T, E]

            normed = norm(g, c, x, blk + "ffn_norm");
            Value gate = projection(g, source, normed, blk + "ffn_gate", c.feedForwardLength()); //   [T, F]
            Value up = projection(g, source, normed, blk + "ffn_up", c.feedForwardLength()); //       [T, F]
            Value hidden = g.multiply(blk + "ffn_hidden", g.activate(blk + "ffn_act", gate, Activation.SILU), up);
            Value down = projection(g, source, hidden, blk + "ffn_down", c.embeddingLength());
            x = g.add(blk + "ffn_residual", x, down); //                                              [T, E]
        }
        x = norm(g, c, g.selectRows("selected", x), "output_norm"); //                                [L, E]
        g.output(Graph.HIDDEN, x);
        Weight head = source.has("output.weight")
                ? new Weight("output.weight", c.embeddingLength(), c.vocabularySize())
                : embedding;
        return g.build(g.linear("logits", x, head, Optional.empty())); //                             [L, nVocab]
    }

    private static Value norm(GraphBuilder g, ModelConfig c, Value x, String name) {
        return g.rmsNorm(name, x, Weight.vector(name + ".weight", x.width()), c.rmsEps());
    }

    private static Value projection(GraphBuilder g, ModelSource source, Value x, String name, int rows) {
        Weight weight = new Weight(name + ".weight", x.width(), rows);
        return g.linear(name, x, weight, optional(source, name + ".bias", rows));
    }

    private static Optional<Weight> optional(ModelSource source, String name, int length) {
        return source.has(name) ? Optional.of(Weight.vector(name, length)) : Optional.empty();
    }
}
