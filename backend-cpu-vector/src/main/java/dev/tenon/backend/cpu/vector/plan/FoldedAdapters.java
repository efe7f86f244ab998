package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/// A graph fused as if it had no adapters, and what these change of its projections, whose kernels add it. Where a
/// fused op has no kernel that does, adapters stay ops.
///
/// @param graph the graph
/// @param adapters the changes, by the value that the projection computes
record FoldedAdapters(Graph graph, Map<Value, LowRankAdd> adapters) {
    /// {@return a graph without fused ops, whose adapters are ops}
    ///
    /// @param graph the graph
    static FoldedAdapters none(Graph graph) {
        return new FoldedAdapters(graph.expanded(), Map.of());
    }

    /// {@return a graph with fused ops}
    ///
    /// @param graph the graph
    /// @param table rows of ops
    static FoldedAdapters fuse(Graph graph, CpuOps table) {
        FoldedAdapters all = fold(graph, Set.of(), table);
        Set<Weight> elsewhere = new HashSet<>();
        for (Op op : all.graph.ops()) {
            if (op instanceof CustomOp && !table.row(op).orElseThrow().addsAdapters()) {
                elsewhere.addAll(op.weights());
            }
        }
        return all.adapters.isEmpty() || elsewhere.isEmpty() ? all : fold(graph, elsewhere, table);
    }

    private static FoldedAdapters fold(Graph graph, Set<Weight> except, CpuOps table) {
        Map<Value, CoreOp.Linear> linears = new HashMap<>();
        Map<Value, Integer> readers = new HashMap<>();
        Stream.concat(graph.outputs().values().stream(), Stream.of(graph.output()))
                .forEach(value -> readers.merge(value, 1, Integer::sum));
        for (Op op : graph.ops()) {
            op.inputs().forEach(value -> readers.merge(value, 1, Integer::sum));
            if (op instanceof CoreOp.Linear linear && !except.contains(linear.weight())) {
                linears.put(linear.out(), linear);
            }
        }
        Map<Value, LowRankAdd> adapters = new HashMap<>();
        Map<Value, Value> results = new HashMap<>();
        for (Op op : graph.ops()) {
            if (op instanceof LowRankAdd added
                    && readers.get(added.base()) == 1
                    && linears.containsKey(added.base())
                    && linears.get(added.base()).x().equals(added.x())) {
                adapters.put(added.out(), added);
                results.put(added.base(), added.out());
            }
        }
        List<Op> ops = new ArrayList<>();
        for (Op op : graph.ops()) {
            if (op instanceof CoreOp.Linear linear && results.containsKey(linear.out())) {
                ops.add(new CoreOp.Linear(linear.x(), linear.weight(), linear.bias(), results.get(linear.out())));
            } else if (!(op instanceof LowRankAdd added) || adapters.get(added.out()) != added) {
                ops.add(op);
            }
        }
        return new FoldedAdapters(Fusion.fuse(graph.withOps(ops), table::isFused), adapters);
    }
}
