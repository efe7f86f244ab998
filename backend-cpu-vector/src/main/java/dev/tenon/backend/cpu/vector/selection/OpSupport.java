package dev.tenon.backend.cpu.vector.selection;


import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Judges which ops run here, and how.
///
/// @param weights formats of the ops' weights
/// @param kernels selects kernels
public record OpSupport(Weights weights, KernelSet kernels) {
    /// {@return how well an op runs, and why}
    ///
    /// @param op the op
    public Support of(Op op) {
        return switch (op) {
            case CoreOp.Linear linear -> {
                String weight = linear.weight().name();
                KernelSet.Linear kernel =
                        kernels.linear(weights.format(weight), linear.weight().cols());
                yield new Support(kernel.level(), "kernel " + kernel.name() + " for " + weight);
            }
            // Not all core ops: a newer api may have one that no kernel here computes.
            case CoreOp.Embedding _,
                    CoreOp.RmsNorm _,
                    CoreOp.Rope _,
                    CoreOp.Attention _,
                    CoreOp.Add _,
                    CoreOp.Multiply _,
                    CoreOp.Activate _,
                    CoreOp.Scale _,
                    CoreOp.SoftCap _,
                    CoreOp.SelectRows _ -> new Support(Support.Level.FAST, "float32 kernel " + op.kind());
            case CustomOp custom -> worst(custom);
            case Op plain
            when isPlain(plain) -> new Support(Support.Level.GENERIC, "plain Java for " + plain.kind());
            default ->
                new Support(
                        Support.Level.NONE,
                        "op " + op.kind() + " (" + op.getClass().getName()
                                + ") is neither a core op nor a custom op with an expansion");
        };
    }

    /// A custom op runs as well as the worst op of its expansion.
    private Support worst(CustomOp op) {
        Support worst = isFused(op)
                ? new Support(Support.Level.FAST, "fused kernel " + op.kind())
                : new Support(Support.Level.GENERIC, "op " + op.kind() + " runs as its expansion");
        for (Op inner : op.expand()) {
            Support support = of(inner);
            if (support.level().compareTo(worst.level()) > 0) {
                worst = new Support(support.level(), op.kind() + ": " + support.reason());
            }
        }
        return worst;
    }

    /// {@return whether the backend has a kernel for the whole op}
    ///
    /// @param op the op
    public static boolean isFused(Op op) {
        return op instanceof FusedOp.NormQkvRope || op instanceof FusedOp.NormGateUp || op instanceof FusedOp.LinearAdd;
    }

    /// {@return the reasons why a graph cannot run, empty if it can: ops without a kernel, and ops that read
    /// rows which do not go together}
    ///
    /// @param graph graph of core ops and fused ops
    public List<Issue> refusals(Graph graph) {
        List<Issue> issues = new ArrayList<>();
        Set<Integer> selected = new HashSet<>();
        for (Op op : graph.ops()) {
            Support support = of(op);
            if (support.level() == Support.Level.NONE) {
                issues.add(unsupported(support.reason(), op));
            }
            long inputs =
                    op.inputs().stream().filter(v -> selected.contains(v.id())).count();
            boolean needsAll =
                    op instanceof CoreOp.Attention || op instanceof CoreOp.SelectRows || op instanceof CoreOp.Pool;
            if (inputs > 0 && (needsAll || inputs < op.inputs().size())) {
                issues.add(unsupported(
                        "op " + op.kind() + " reads " + op.inputs()
                                + ", of which some have a row a token and some only the rows that want logits",
                        op));
            }
            if (inputs > 0 || op instanceof CoreOp.SelectRows || op instanceof CoreOp.Pool) {
                op.outputs().stream().map(Value::id).forEach(selected::add);
            }
        }
        return issues;
    }

    private static Issue unsupported(String message, Op op) {
        return Issue.error(ErrorCode.BACKEND_UNSUPPORTED, message, op.kind());
    }

    /// {@return whether an op runs in plain Java: those of experts and encoders}
    ///
    /// @param op any op
    private static boolean isPlain(Op op) {
        return switch (op) {
            case CoreOp.PositionEmbedding _,
                    CoreOp.Repeat _,
                    CoreOp.LayerNorm _,
                    CoreOp.SwigluOai _,
                    CoreOp.Pool _,
                    ExpertOp.Router _,
                    ExpertOp.ExpertLinear _,
                    ExpertOp.WeightedSum _ -> true;
            default -> false;
        };
    }
}
