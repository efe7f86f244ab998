package dev.tenon.api.device;

import dev.tenon.api.graph.Graph;
import dev.tenon.api.kernel.KernelProvider;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/// What to compile.
///
/// @param graph the graph, not yet fused
/// @param weights its weights
/// @param options limits of the plan
/// @param kernels kernels that other bundles offer; unmodifiable
public record CompileRequest(Graph graph, Weights weights, PlanOptions options, Collection<KernelProvider> kernels) {
    /// Copies the collection.
    public CompileRequest {
        Objects.requireNonNull(graph, "graph");
        Objects.requireNonNull(weights, "weights");
        Objects.requireNonNull(options, "options");
        kernels = List.copyOf(kernels);
    }
}
