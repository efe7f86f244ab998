package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.compile.GraphSupport;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Weight;
import dev.tenon.backend.cpu.vector.selection.KernelSet;

/// Judges how well ops run, by their rows.
///
/// @param ops the rows
/// @param weights formats of the ops' weights
/// @param kernels selects kernels
record OpSupport(CpuOps ops, Weights weights, KernelSet kernels) {
    /// {@return how well an op runs, and why}
    ///
    /// @param op the op
    Support of(Op op) {
        return ops.row(op).map(row -> row.support().apply(op, this)).orElseGet(() -> GraphSupport.unknown(op));
    }

    /// {@return the kernel of products with a weight}
    KernelSet.Linear linear(Weight weight) {
        return kernels.linear(weights.format(weight.name()), weight.cols());
    }

    /// {@return how fast products with a weight are}
    Support matrix(Weight weight) {
        KernelSet.Linear kernel = linear(weight);
        return new Support(kernel.level(), "kernel " + kernel.name() + " for " + weight.name());
    }
}
