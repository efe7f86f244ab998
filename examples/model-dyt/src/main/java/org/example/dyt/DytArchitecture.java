package org.example.dyt;

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

/// The `dyt` architecture of this example: a llama whose norms are [DynamicTanh].
@Component(service = ModelArchitecture.class, property = "model.architecture=dyt")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class DytArchitecture implements ModelArchitecture {
    private static final float FREQ_BASE = 10_000;

    @Override
    public String id() {
        return "dyt";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = ModelConfig.read(source, FREQ_BASE);
        return new ModelDefinition(config, graph(config, source));
    }

    private static Graph graph(ModelConfig c, ModelSource source) {
        GraphBuilder g = new GraphBuilder(c.architecture());
        RopeParams rope = RopeParams.builder(c.keyLength(), Pairing.INTERLEAVED, c.ropeFreqBase())
                .ropeDim(c.ropeDim())
                .freqScale(c.ropeFreqScale())
                .build();
        float scale = (float) (1 / Math.sqrt(c.keyLength()));
        Weight embedding = new Weight("token_embd.weight", c.embeddingLength(), c.vocabularySize());
        Value x = g.embedding("embd", embedding);
        for (int layer = 0; layer < c.blockCount(); layer++) {
            String blk = "blk." + layer + ".";
            Value h = dynamicTanh(g, x, blk + "attn_norm");
            Value q = g.rope(blk + "q_rope", linear(g, h, blk + "attn_q", c.headCount() * c.keyLength()), rope);
            Value k = g.rope(blk + "k_rope", linear(g, h, blk + "attn_k", c.headCountKv() * c.keyLength()), rope);
            Value v = linear(g, h, blk + "attn_v", c.headCountKv() * c.valueLength());
            Value attended = g.attention(blk + "attn", q, k, v, layer, c.headCount(), c.headCountKv(), scale);
            x = g.add(blk + "attn_residual", x, linear(g, attended, blk + "attn_output", c.embeddingLength()));
            h = dynamicTanh(g, x, blk + "ffn_norm");
            Value gate = linear(g, h, blk + "ffn_gate", c.feedForwardLength());
            Value up = linear(g, h, blk + "ffn_up", c.feedForwardLength());
            Value hidden = g.multiply(blk + "ffn_hidden", g.activate(blk + "ffn_act", gate, Activation.SILU), up);
            x = g.add(blk + "ffn_residual", x, linear(g, hidden, blk + "ffn_down", c.embeddingLength()));
        }
        x = dynamicTanh(g, g.selectRows("selected", x), "output_norm");
        Weight head = source.has("output.weight")
                ? new Weight("output.weight", c.embeddingLength(), c.vocabularySize())
                : embedding;
        return g.build(g.linear("logits", x, head, Optional.empty()));
    }

    private static Value dynamicTanh(GraphBuilder g, Value x, String name) {
        Value out = g.value(name, x.width());
        g.add(new DynamicTanh(
                x,
                Weight.vector(name + ".alpha", 1),
                Weight.vector(name + ".weight", x.width()),
                Weight.vector(name + ".bias", x.width()),
                out));
        return out;
    }

    private static Value linear(GraphBuilder g, Value x, String name, int rows) {
        return g.linear(name, x, new Weight(name + ".weight", x.width(), rows), Optional.empty());
    }
}
