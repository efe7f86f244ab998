package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.Weight;
import java.util.Optional;

/// Ops of the api, and ways of usual ones, that the kernels do not compute yet.
final class NoKernelYet {
    private NoKernelYet() {}

    /// {@return why an op cannot run, or empty if nothing is known against it}
    ///
    /// @param op any op
    static Optional<String> reason(Op op) {
        Optional<Weight> view = op.weights().stream().filter(Weight::isView).findFirst();
        if (view.isPresent()) {
            return not("op " + op.kind() + " with some rows of a tensor (" + view.get() + ")");
        }
        return switch (op) {
            case CoreOp.PositionEmbedding _, CoreOp.Repeat _, CoreOp.LayerNorm _, CoreOp.SwigluOai _, CoreOp.Pool _ ->
                not("op " + op.kind());
            case PositionScale _ -> not("op " + op.kind());
            case ExpertOp _ -> not("op " + op.kind());
            case CoreOp.Attention a when !a.params().causal() -> not("attention without a causal mask");
            case CoreOp.Attention a when a.params().sinks().isPresent() -> not("attention with sinks");
            case CoreOp.Rope r when r.params().yarn().isPresent() -> not("rope with YaRN");
            case CoreOp.Rope r when r.params().attentionFactor() != 1 -> not("rope with an attention factor");
            case CoreOp.Activate a
            when a.activation() != Activation.SILU
                    && a.activation() != Activation.GELU_TANH
                    && a.activation() != Activation.RELU -> not("activation " + a.activation());
            default -> Optional.empty();
        };
    }

    private static Optional<String> not(String what) {
        return Optional.of(what + " is not supported by NVIDIA kernels yet");
    }
}
