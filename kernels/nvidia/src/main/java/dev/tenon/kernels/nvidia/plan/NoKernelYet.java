package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.StateOp;
import java.util.Optional;

/// Ops of the api, and ways of usual ones, that the kernels do not compute yet.
final class NoKernelYet {
    private NoKernelYet() {}

    /// {@return why an op cannot run, or empty if nothing is known against it}
    ///
    /// @param op any op
    static Optional<String> reason(Op op) {
        return switch (op) {
            case ExpertOp _, StateOp _, PartOp.Join _, PartOp.HeadLinear _ -> not("op " + op.kind());
            case CoreOp.Attention a when a.params().chunk() > 0 -> not("attention in runs of positions");
            default -> Optional.empty();
        };
    }

    private static Optional<String> not(String what) {
        return Optional.of(what + " is not supported by NVIDIA kernels yet");
    }
}
