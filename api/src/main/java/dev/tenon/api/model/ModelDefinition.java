package dev.tenon.api.model;

import dev.tenon.api.graph.Graph;
import java.util.Objects;

/// What an architecture makes of a model file.
///
/// @param config hyperparameters
/// @param graph the computation, with the weights it needs by name and shape
public record ModelDefinition(ModelConfig config, Graph graph) {
    /// Checks that nothing is null.
    public ModelDefinition {
        Objects.requireNonNull(config, "config");
        Objects.requireNonNull(graph, "graph");
    }
}
