package dev.tenon.platform.contracts.compare;

import dev.tenon.api.graph.Graph;

/// What the ops of a graph give for the tokens of one sequence.
interface OpOutputs extends AutoCloseable {
    /// {@return the output of a graph that ends early, `[tokens][width]`}
    ///
    /// @param cut the graph, from [Cut]
    /// @param fuse whether ops may be fused
    float[][] of(Graph cut, boolean fuse);

    @Override
    void close();
}
