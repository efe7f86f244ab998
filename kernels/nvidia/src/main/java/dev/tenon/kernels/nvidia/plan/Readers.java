package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/// Which ops of a graph read a value.
final class Readers {
    private final Map<Integer, List<Op>> reading = new HashMap<>();
    private final Graph graph;

    Readers(Graph graph) {
        this.graph = graph;
        for (Op op : graph.ops()) {
            op.inputs()
                    .forEach(v -> reading.computeIfAbsent(v.id(), id -> new ArrayList<>())
                            .add(op));
        }
    }

    /// {@return whether a value is an output of the graph}
    boolean isOutput(Value value) {
        return value.equals(graph.output()) || graph.outputs().containsValue(value);
    }

    /// {@return the op that reads a value, if nothing else does}
    Optional<Op> only(Value value) {
        List<Op> ops = reading.getOrDefault(value.id(), List.of());
        return ops.size() == 1 && !isOutput(value) ? Optional.of(ops.getFirst()) : Optional.empty();
    }

    /// {@return the ops that read a value, in order}
    List<Op> of(Value value) {
        return reading.getOrDefault(value.id(), List.of());
    }

    /// {@return whether ops alone read a value, and all of them are as asked}
    boolean all(Value value, Predicate<Op> asked) {
        return !isOutput(value)
                && reading.getOrDefault(value.id(), List.of()).stream().allMatch(asked);
    }

    /// {@return whether some op that reads a value is as asked}
    boolean any(Value value, Predicate<Op> asked) {
        return reading.getOrDefault(value.id(), List.of()).stream().anyMatch(asked);
    }
}
