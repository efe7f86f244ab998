package dev.tenon.platform.core.engine;

import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import java.util.Optional;

/// Serves "llama" with a graph that has the embedding as its only weight.
final class FakeLlama implements ModelArchitecture {
    @Override
    public String id() {
        return "llama";
    }

    @Override
    public ModelDefinition define(ModelSource source) {
        ModelConfig config = ModelConfig.read(source, 10000);
        Weight table = new Weight("token_embd.weight", config.embeddingLength(), config.vocabularySize());
        GraphBuilder g = new GraphBuilder("fake");
        return new ModelDefinition(
                config, g.build(g.linear("logits", g.embedding("x", table), table, Optional.empty())));
    }
}
