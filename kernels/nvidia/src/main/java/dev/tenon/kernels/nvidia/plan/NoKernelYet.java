package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.StateOp;
import java.util.Optional;

/// Ops of the api that the kernels do not compute yet.
final class NoKernelYet {
    private NoKernelYet() {}

    /// {@return why an op cannot run, or empty if nothing is known against it}
    ///
    /// @param op any op
    static Optional<String> reason(Op op) {
        boolean missing =
                op instanceof ExpertOp || op instanceof PartOp || op instanceof StateOp || op instanceof PositionScale;
        if (missing) {
            return Optional.of("op " + op.kind() + " is not supported by NVIDIA kernels yet");
        }
        return op instanceof CoreOp.Attention a && a.params().chunk() > 0
                ? Optional.of("attention in runs of positions is not supported by NVIDIA kernels yet")
                : Optional.empty();
    }
}
