package dev.tenon.backend.cpu.vector.selection;

import dev.tenon.backend.cpu.vector.op.PlainOp;

import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.PackedKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.kernel.linear.LinearKernel;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Decides which ops this backend runs, and how.
public final class OpSupport {
    private OpSupport() {}

    /// Judges one op.
    ///
    /// @param op the op
    /// @param weights formats of its weights
    /// @param kernels the backend's kernels
    /// @param offered kernels of other bundles
    /// @return how well, and why
    public static Support of(Op op, Weights weights, KernelSet kernels, Collection<KernelProvider> offered) {
        return switch (op) {
            case CoreOp.Linear linear -> {
                QuantFormat format = weights.format(linear.weight().name());
                PackedKernel packed = kernels.packed(format, linear.weight().cols(), offered);
                if (packed != null) {
                    yield new Support(
                            Support.Level.FAST,
                            "kernel " + packed.name() + " for "
                                    + linear.weight().name());
                }
                LinearKernel kernel = kernels.linear(format, offered);
                String reason =
                        "kernel " + kernel.name() + " for " + linear.weight().name();
                yield new Support(kernel.level(), reason);
            }
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
            case CustomOp custom -> custom(custom, weights, kernels, offered);
            case Op plain
            when PlainOp.knows(plain) -> new Support(Support.Level.GENERIC, "plain Java for " + plain.kind());
            default ->
                new Support(
                        Support.Level.NONE,
                        "op " + op.kind() + " (" + op.getClass().getName()
                                + ") is neither a core op nor a custom op with an expansion");
        };
    }

    private static Support custom(CustomOp op, Weights weights, KernelSet kernels, Collection<KernelProvider> offered) {
        Support worst = new Support(
                isFused(op) ? Support.Level.FAST : Support.Level.GENERIC,
                isFused(op) ? "fused kernel " + op.kind() : "op " + op.kind() + " runs as its expansion");
        for (Op inner : op.expand()) {
            Support support = of(inner, weights, kernels, offered);
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

    /// Lists the reasons why a graph cannot run: ops without a kernel, and rows that do not go together.
    ///
    /// @param graph graph of core ops and fused ops
    /// @param weights formats of its weights
    /// @param kernels the backend's kernels
    /// @param offered kernels of other bundles
    /// @return the reasons; empty if it can run
    public static List<Issue> refusals(
            Graph graph, Weights weights, KernelSet kernels, Collection<KernelProvider> offered) {
        List<Issue> issues = new ArrayList<>();
        Set<Integer> selected = new HashSet<>();
        for (Op op : graph.ops()) {
            Support support = of(op, weights, kernels, offered);
            if (support.level() == Support.Level.NONE) {
                issues.add(unsupported(support.reason(), op));
            }
            long chosen =
                    op.inputs().stream().filter(v -> selected.contains(v.id())).count();
            boolean needsAll =
                    op instanceof CoreOp.Attention || op instanceof CoreOp.SelectRows || op instanceof CoreOp.Pool;
            if (chosen > 0 && (needsAll || chosen < op.inputs().size())) {
                issues.add(unsupported(
                        "op " + op.kind() + " reads " + op.inputs()
                                + ", of which some have a row a token and some only the rows that want logits",
                        op));
            }
            if (chosen > 0 || op instanceof CoreOp.SelectRows || op instanceof CoreOp.Pool) {
                op.outputs().stream().map(Value::id).forEach(selected::add);
            }
        }
        return issues;
    }

    private static Issue unsupported(String message, Op op) {
        return Issue.error(ErrorCode.BACKEND_UNSUPPORTED, message, op.kind());
    }
}
