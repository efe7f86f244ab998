package dev.tenon.api.compile;

import dev.tenon.api.device.Support;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.JoinRows;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.RunAttention;
import dev.tenon.api.graph.SelectPositions;
import dev.tenon.api.graph.SelectedAttention;
import dev.tenon.api.graph.Value;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/// What is the same for every compiler that judges ops: how well a custom op runs, and why a graph cannot.
public final class GraphSupport {
    private GraphSupport() {}

    /// {@return the refusal of an op that a compiler does not know}
    ///
    /// @param op the op
    public static Support unknown(Op op) {
        return new Support(
                Support.Level.NONE,
                "op " + op.kind() + " (" + op.getClass().getName()
                        + ") is neither a core op nor a custom op with an expansion");
    }

    /// {@return how well a custom op runs: as the worst op of its expansion}
    ///
    /// @param op the op
    /// @param fused whether there is a kernel for the whole op
    /// @param support judges the ops of the expansion
    public static Support of(CustomOp op, boolean fused, Function<Op, Support> support) {
        Support worst = fused
                ? new Support(Support.Level.FAST, "fused kernel " + op.kind())
                : new Support(Support.Level.GENERIC, "op " + op.kind() + " runs as its expansion");
        for (Op inner : op.expand()) {
            Support own = support.apply(inner);
            if (own.level().compareTo(worst.level()) > 0) {
                worst = new Support(own.level(), op.kind() + ": " + own.reason());
            }
        }
        return worst;
    }

    /// {@return the reasons why a graph cannot run, empty if it can: ops without a kernel, and ops that read
    ///     rows of all tokens together with the rows that want logits}
    ///
    /// @param graph the graph
    /// @param support judges one op
    public static List<Issue> refusals(Graph graph, Function<Op, Support> support) {
        List<Issue> issues = new ArrayList<>();
        Set<Integer> selected = new HashSet<>();
        for (Op op : graph.ops()) {
            Support own = support.apply(op);
            if (own.level() == Support.Level.NONE) {
                issues.add(unsupported(own.reason(), op));
            }
            int inputs = 0;
            for (Value input : op.inputs()) {
                inputs += selected.contains(input.id()) ? 1 : 0;
            }
            boolean selects = op instanceof CoreOp.SelectRows || op instanceof CoreOp.Pool || op instanceof JoinRows;
            boolean needsAll = selects
                    || op instanceof CoreOp.Attention
                    || op instanceof SelectedAttention
                    || op instanceof RunAttention
                    || op instanceof SelectPositions
                    || RecurrentOp.hasState(op);
            if (inputs > 0 && (needsAll || inputs < op.inputs().size())) {
                issues.add(unsupported(
                        "op " + op.kind() + " reads " + op.inputs()
                                + ", of which some have a row a token and some only the rows that want logits",
                        op));
            }
            if (inputs > 0 || selects) {
                for (Value output : op.outputs()) {
                    selected.add(output.id());
                }
            }
        }
        return issues;
    }

    private static Issue unsupported(String message, Op op) {
        return Issue.error(ErrorCode.BACKEND_UNSUPPORTED, message, op.kind());
    }
}
