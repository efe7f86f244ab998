package dev.tenon.platform.core.engine;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/// Serves "llama" with a graph that has the embedding as its only weight.
final class FakeLlama implements ModelArchitecture {
    /// Which tensors it ignores; all.
    volatile Predicate<String> ignored = tensor -> true;
    /// Whether the output that is not asked for by default has a weight of its own.
    volatile boolean hidden;
    /// Whether the model has a head for further tokens.
    volatile boolean heads;

    @Override
    public String id() {
        return "llama";
    }

    /// The chat template that it gives for a file.
    volatile Function<GgufMetadata, Optional<String>> template = metadata -> Optional.empty();

    @Override
    public Optional<String> chatTemplate(GgufMetadata metadata) {
        return template.apply(metadata);
    }

    /// The context of the last load.
    volatile int contextLength = -1;

    @Override
    public ModelDefinition define(ModelSource source) {
        contextLength = source.contextLength();
        ModelConfig config = ModelConfig.read(source, 10000);
        Weight table = new Weight("token_embd.weight", config.embeddingLength(), config.vocabularySize());
        GraphBuilder g = new GraphBuilder("fake");
        Value x = g.embedding("x", table);
        Weight norm = Weight.vector("output_norm.weight", x.width());
        g.output(Graph.HIDDEN, hidden ? g.rmsNorm("norm", x, norm, 0) : x);
        if (heads) {
            g.output(Graph.HIDDEN_ROWS, x);
        }
        return new ModelDefinition(config, g.build(g.linear("logits", x, table, Optional.empty())));
    }

    @Override
    public Optional<Graph> head(ModelSource source) {
        ModelConfig config = ModelConfig.read(source, 10000);
        Weight table = new Weight("token_embd.weight", config.embeddingLength(), config.vocabularySize());
        GraphBuilder g = new GraphBuilder("fake head");
        Value x = g.embedding("x", table);
        Value both = g.add("both", x, g.givenRows("state", x.width()));
        g.output(Graph.HIDDEN, both);
        return heads ? Optional.of(g.build(g.linear("logits", both, table, Optional.empty()))) : Optional.empty();
    }

    @Override
    public boolean ignores(ModelSource source, String tensor) {
        return ignored.test(tensor);
    }
}
