package dev.tenon.models.gemma;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.Value;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import dev.tenon.api.model.blocks.DecoderBlocks;
import dev.tenon.api.model.blocks.DecoderBlocks.QkNorm;
import dev.tenon.api.model.blocks.ExpertShape;
import org.osgi.service.component.annotations.Component;

/// The `gemma-embedding` architecture: EmbeddingGemma.
///
/// The blocks of Gemma 3 without a causal mask; windows reach to both sides. The vector of a text is the mean of
/// its tokens' vectors, after two matrices without activation where the file has them.
@Component(service = ModelArchitecture.class, property = "model.architecture=gemma-embedding")
@ServiceProvider(value = ModelArchitecture.class, resolution = Resolution.OPTIONAL)
public final class GemmaEmbeddingArchitecture implements ModelArchitecture {
    private static final int MEAN = 1;
    private static final int LAYERS_OF_NONE = -1;
    private static final int MAX_WIDTH = 1 << 24;

    @Override
    public String id() {
        return "gemma-embedding";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        ExpertShape.none(keys);
        if (keys.integerOr("pooling_type", MEAN, 0, Integer.MAX_VALUE) != MEAN) {
            throw keys.unsupported("pooling_type", keys.integer("pooling_type", 0, Integer.MAX_VALUE), "1 (mean)");
        }
        ModelConfig config = ModelConfig.readShape(source, LayerKinds.DEFAULT_FREQ_BASE);
        return new ModelDefinition(config, graph(new DecoderBlocks(source, config).always(QkNorm.HEADS), keys));
    }

    private static Graph graph(DecoderBlocks d, ModelKeys keys) {
        GraphBuilder g = d.graph();
        LayerKinds kinds = LayerKinds.read(keys, d.config(), 0);
        Value x = GemmaBlocks.embedding(d); //                                                        [T, E]
        for (int layer = 0; layer < d.config().blockCount(); layer++) {
            x = GemmaBlocks.layer(
                    d,
                    x,
                    layer,
                    GemmaBlocks.params(d, "blk." + layer + ".", LAYERS_OF_NONE)
                            .causal(false)
                            .slidingWindow(kinds.window(layer))
                            .build(),
                    kinds.rope(layer)); //                                                            [T, E]
        }
        x = d.rmsNorm("output_norm", x);
        g.output(Graph.HIDDEN, g.selectRows("selected", x)); //                                       [L, E]
        Value pooled = g.pool("pooled", x, Pooling.MEAN);
        for (String name : new String[] {"dense_2", "dense_3"}) {
            if (keys.source().has(name + ".weight")) {
                pooled = d.linear(name, pooled, keys.integer(name + "_feat_out", 1, MAX_WIDTH));
            }
        }
        g.output(Graph.EMBEDDING, pooled);
        return g.build(pooled); //                                                                    [L, E]
    }
}
