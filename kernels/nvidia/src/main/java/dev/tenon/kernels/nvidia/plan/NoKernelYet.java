package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PositionScale;
import java.util.Optional;

/// Ops of the api that the kernels do not compute yet.
final class NoKernelYet {
    private NoKernelYet() {}

    /// {@return why an op cannot run, or empty if nothing is known against it}
    ///
    /// @param op any op
    static Optional<String> reason(Op op) {
        return op instanceof ExpertOp || op instanceof PositionScale
                ? Optional.of("op " + op.kind() + " is not supported by NVIDIA kernels yet")
                : Optional.empty();
    }
}
