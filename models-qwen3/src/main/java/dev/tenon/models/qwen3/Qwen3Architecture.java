package dev.tenon.models.qwen3;

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
import dev.tenon.api.model.blocks.EncoderHead;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;

/// The `qwen3` architecture: the dense Qwen 3 models.
///
/// A decoder with RMSNorm, grouped-query attention whose query and key heads are normalised before
/// rotation (QK-norm), rotation of half-split pairs, heads whose length is a hyperparameter of its
/// own, and a SwiGLU feed-forward layer. Without an output matrix the embedding serves. Rerankers have a head
/// for their labels besides.
@Component(service = ModelArchitecture.class, property = "model.architecture=qwen3")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class Qwen3Architecture implements ModelArchitecture {
    private static final float DEFAULT_FREQ_BASE = 1_000_000;

    /// Creates the architecture; it has no state.
    public Qwen3Architecture() {}

    @Override
    public String id() {
        return "qwen3";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = ModelConfig.read(source, DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(config, source));
    }

    private static Graph graph(ModelConfig c, ModelSource source) {
        GraphBuilder g = new GraphBuilder(c.architecture());
        int qWidth = c.headCount() * c.keyLength();
        int kWidth = c.headCountKv() * c.keyLength();
        int vWidth = c.headCountKv() * c.valueLength();
        float scale = (float) (1 / Math.sqrt(c.keyLength()));
        RopeParams rope = RopeParams.builder(c.keyLength(), Pairing.HALF_SPLIT, c.ropeFreqBase())
                .ropeDim(c.ropeDim())
                .freqScale(c.ropeFreqScale())
                .build();

        Weight embedding = new Weight("token_embd.weight", c.embeddingLength(), c.vocabularySize());
        Value x = g.embedding("embd", embedding); //                                                  [T, E]
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";

            Value normed = norm(g, c, x, blk + "attn_norm");
            Value q = projection(g, normed, blk + "attn_q", qWidth); //                       [T, H * K]
            Value k = projection(g, normed, blk + "attn_k", kWidth); //                       [T, Hkv * K]
            Value v = projection(g, normed, blk + "attn_v", vWidth); //                       [T, Hkv * V]
            q = g.rope(blk + "q_rope", headNorm(g, c, q, blk + "attn_q_norm"), rope);
            k = g.rope(blk + "k_rope", headNorm(g, c, k, blk + "attn_k_norm"), rope);
            Value attended =
                    g.attention(blk + "attn", q, k, v, layer, c.headCount(), c.headCountKv(), scale); // [T, H * V]
            Value projected = projection(g, attended, blk + "attn_output", c.embeddingLength());
            x = g.add(blk + "attn_residual", x, projected); //                                        [T, E]

            normed = norm(g, c, x, blk + "ffn_norm");
            Value gate = projection(g, normed, blk + "ffn_gate", c.feedForwardLength()); //   [T, F]
            Value up = projection(g, normed, blk + "ffn_up", c.feedForwardLength()); //       [T, F]
            Value hidden = g.multiply(blk + "ffn_hidden", g.activate(blk + "ffn_act", gate, Activation.SILU), up);
            Value down = projection(g, hidden, blk + "ffn_down", c.embeddingLength());
            x = g.add(blk + "ffn_residual", x, down); //                                              [T, E]
        }
        x = norm(g, c, g.selectRows("selected", x), "output_norm"); //                                [L, E]
        g.output(Graph.HIDDEN, x);
        if (source.has("cls.output.weight")) {
            EncoderHead.scores(g, ModelKeys.of(source), x); //                                        [L, labels]
        }
        Weight head = source.has("output.weight")
                ? new Weight("output.weight", c.embeddingLength(), c.vocabularySize())
                : embedding;
        return g.build(g.linear("logits", x, head, Optional.empty())); //                             [L, nVocab]
    }

    private static Value norm(GraphBuilder g, ModelConfig c, Value x, String name) {
        return g.rmsNorm(name, x, Weight.vector(name + ".weight", x.width()), c.rmsEps());
    }

    private static Value headNorm(GraphBuilder g, ModelConfig c, Value x, String name) {
        return g.rmsNorm(name, x, Weight.vector(name + ".weight", c.keyLength()), c.rmsEps());
    }

    private static Value projection(GraphBuilder g, Value x, String name, int rows) {
        return g.linear(name, x, new Weight(name + ".weight", x.width(), rows), Optional.empty());
    }
}
