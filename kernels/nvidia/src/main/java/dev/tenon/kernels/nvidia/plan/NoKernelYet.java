package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.StateOp;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches;
import dev.tenon.kernels.nvidia.launch.StateLaunches;
import java.util.Optional;

/// Ops of the api, and sizes of some, that the kernels do not compute yet.
final class NoKernelYet {
    private NoKernelYet() {}

    /// {@return why an op cannot run, or empty if nothing is known against it}
    ///
    /// @param op any op
    static Optional<String> reason(Op op) {
        return switch (op) {
            case PartOp.HeadLinear l
            when l.heads() > ExpertLaunches.MOST_EXPERTS ->
                not("op head_linear of more than " + ExpertLaunches.MOST_EXPERTS + " heads");
            case StateOp.SelectiveScan s when s.stateLength() > StateLaunches.LONGEST -> longer(s);
            case StateOp.GatedDeltaRule r when r.keyLength() > StateLaunches.LONGEST -> longer(r);
            case ExpertOp.Router r
            when r.logits().width() > ExpertLaunches.MOST_EXPERTS ->
                not("op router over more than " + ExpertLaunches.MOST_EXPERTS + " experts");
            default -> Optional.empty();
        };
    }

    private static Optional<String> longer(StateOp op) {
        return not("op " + op.kind() + " with more than " + StateLaunches.LONGEST + " numbers in a row of its state");
    }

    private static Optional<String> not(String what) {
        return Optional.of(what + " is not supported by NVIDIA kernels yet");
    }
}
