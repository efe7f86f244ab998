package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cuda.CudaFragment;
import dev.tenon.kernels.nvidia.DeviceFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Which fused ops the kernels can run as they are: those whose weights' formats and shapes go together.
final class FusedOpFilter {
    private FusedOpFilter() {}

    /// {@return the graph with every other fused op replaced by the core ops that it stands for}
    ///
    /// @param graph the graph
    /// @param weights formats of its weights
    /// @param fragments block decoders of other bundles, by format
    static Graph expandUnfit(Graph graph, Weights weights, Map<String, CudaFragment> fragments) {
        List<Op> ops = new ArrayList<>();
        for (Op op : graph.ops()) {
            boolean keep = switch (op) {
                case FusedOp.NormQkvRope f ->
                    f.norm().weight().cols() == f.norm().x().width()
                            && isReadByAttentionOnly(graph, f)
                            && same(f.q().weight(), f.k().weight(), weights, fragments)
                            && noFragment(f.q().weight(), weights, fragments)
                            && noFragment(f.v().weight(), weights, fragments);
                case FusedOp.NormGateUp f ->
                    f.norm().weight().cols() == f.norm().x().width()
                            && f.gate().bias().isEmpty()
                            && f.up().bias().isEmpty()
                            && same(f.gate().weight(), f.up().weight(), weights, fragments);
                default -> true;
            };
            if (keep) {
                ops.add(op);
            } else {
                ops.addAll(((CustomOp) op).expand());
            }
        }
        return graph.withOps(ops);
    }

    private static boolean same(Weight a, Weight b, Weights weights, Map<String, CudaFragment> fragments) {
        return DeviceFormat.of(weights.format(a.name()), fragments)
                .equals(DeviceFormat.of(weights.format(b.name()), fragments));
    }

    private static boolean noFragment(Weight a, Weights weights, Map<String, CudaFragment> fragments) {
        return DeviceFormat.of(weights.format(a.name()), fragments).fragment().isEmpty();
    }

    /// Whether one attention op, and nothing else, reads the three results.
    private static boolean isReadByAttentionOnly(Graph graph, FusedOp.NormQkvRope f) {
        List<Op> reading = graph.ops().stream()
                .filter(op -> op.inputs().stream().anyMatch(f.outputs()::contains))
                .toList();
        return reading.size() == 1
                && reading.getFirst() instanceof CoreOp.Attention a
                && a.q().equals(f.qRope().out())
                && a.k().equals(f.kRope().out())
                && a.v().equals(f.v().out())
                && !f.outputs().contains(graph.output())
                && (f.qNorm().isEmpty() || f.qNorm().get().weight().cols() == a.keyLength())
                && (f.kNorm().isEmpty() || f.kNorm().get().weight().cols() == a.keyLength())
                && (f.qNorm().isEmpty()
                        || f.kNorm().isEmpty()
                        || f.qNorm().get().eps() == f.kNorm().get().eps())
                && f.qRope().params().headDim() == a.keyLength();
    }
}
