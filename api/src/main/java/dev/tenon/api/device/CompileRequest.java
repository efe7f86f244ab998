package dev.tenon.api.device;

import dev.tenon.api.graph.Graph;
import dev.tenon.api.kernel.KernelProvider;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/// What to compile. Immutable; made by [#builder(Graph, Weights, PlanOptions)].
public final class CompileRequest {
    private final Graph graph;
    private final Weights weights;
    private final PlanOptions options;
    private final List<KernelProvider> kernels;

    private CompileRequest(Builder builder) {
        this.graph = builder.graph;
        this.weights = builder.weights;
        this.options = builder.options;
        this.kernels = builder.kernels;
    }

    /// {@return a builder of a request without kernels of other bundles}
    ///
    /// @param graph the graph, not yet fused
    /// @param weights its weights; borrowed until the plan is closed
    /// @param options limits of the plan
    public static Builder builder(Graph graph, Weights weights, PlanOptions options) {
        return new Builder(graph, weights, options);
    }

    /// {@return a request without kernels of other bundles}
    ///
    /// @param graph the graph, not yet fused
    /// @param weights its weights; borrowed until the plan is closed
    /// @param options limits of the plan
    public static CompileRequest of(Graph graph, Weights weights, PlanOptions options) {
        return builder(graph, weights, options).build();
    }

    /// {@return the graph, not yet fused}
    public Graph graph() {
        return graph;
    }

    /// {@return the weights of the graph}
    public Weights weights() {
        return weights;
    }

    /// {@return the limits of the plan}
    public PlanOptions options() {
        return options;
    }

    /// {@return what other bundles offer; unmodifiable}
    public List<KernelProvider> kernels() {
        return kernels;
    }

    /// Builds requests. Not safe for several threads.
    public static final class Builder {
        private final Graph graph;
        private final Weights weights;
        private final PlanOptions options;
        private List<KernelProvider> kernels = List.of();

        private Builder(Graph graph, Weights weights, PlanOptions options) {
            this.graph = Objects.requireNonNull(graph, "graph");
            this.weights = Objects.requireNonNull(weights, "weights");
            this.options = Objects.requireNonNull(options, "options");
        }

        /// Sets the kernels that other bundles offer; none by default.
        ///
        /// @param providers who offers them; copied
        /// @return this
        public Builder kernels(Collection<KernelProvider> providers) {
            this.kernels = List.copyOf(providers);
            return this;
        }

        /// {@return the request}
        public CompileRequest build() {
            return new CompileRequest(this);
        }
    }
}
