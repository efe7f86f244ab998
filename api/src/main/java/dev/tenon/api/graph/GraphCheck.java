package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Follows the ops of a graph, or of an expansion, and refuses the first that does not fit what was before it.
final class GraphCheck {
    /// Custom ops in custom ops, at most; more is an op that expands into itself.
    private static final int MOST_NESTED = 16;

    private final String graph;
    private final String inside;
    private final int depth;
    /// Values that the next op may read.
    private final Map<Integer, Value> defined = new HashMap<>();
    /// Values of the graph and of all expansions: those too need ids of their own.
    private final Map<Integer, Value> all;
    /// What an expansion defines for the op that it stands for.
    private final List<Value> results;
    private final Map<String, Weight> tensors;
    /// The first attention op of each layer.
    private final Map<Integer, CoreOp.Attention> layers;

    GraphCheck(String graph) {
        this.graph = graph;
        this.inside = "";
        this.depth = 0;
        this.all = new HashMap<>();
        this.results = List.of();
        this.tensors = new HashMap<>();
        this.layers = new HashMap<>();
    }

    private GraphCheck(GraphCheck outer, CustomOp op, String name) {
        this.graph = outer.graph;
        this.inside = ", expansion of " + name;
        this.depth = outer.depth + 1;
        this.all = outer.all;
        this.results = op.outputs();
        this.tensors = outer.tensors;
        this.layers = outer.layers;
        for (Value input : op.inputs()) {
            defined.put(input.id(), input);
        }
    }

    /// Takes the next op.
    void op(Op op) {
        String name = "op " + op.kind() + " -> " + op.outputs();
        for (Value input : op.inputs()) {
            reads(name, input);
        }
        for (Weight weight : op.weights()) {
            Weight tensor = weight.tensor();
            Weight known = tensors.putIfAbsent(weight.name(), tensor);
            if (known != null && !known.equals(tensor)) {
                throw refusal(name + " reads weight " + tensor + ", which another op reads as " + known);
            }
        }
        for (CoreOp.Attention attention : Graph.cached(op)) {
            CoreOp.Attention first = layers.putIfAbsent(attention.layer(), attention);
            if (first != null && !first.sharesLayerWith(attention)) {
                throw refusal(name + " has the layer " + attention.layer() + " of " + first.out()
                        + ", but not the same keys and values");
            }
        }
        if (op.outputs().isEmpty()) {
            throw refusal("op " + op.kind() + " (" + op.getClass().getName() + ") defines no value");
        }
        if (op instanceof CustomOp custom) {
            expansion(custom, name);
        }
        for (Value out : op.outputs()) {
            Value same = defined.putIfAbsent(out.id(), out);
            if (same == null && !isResult(out)) {
                same = all.putIfAbsent(out.id(), out);
            }
            if (same != null) {
                throw refusal(name + " defines " + out + ", whose id " + out.id() + " is that of " + same);
            }
        }
    }

    private boolean isResult(Value value) {
        for (Value result : results) {
            if (result.id() == value.id()) {
                return true;
            }
        }
        return false;
    }

    /// Checks that a value is there and is what was defined.
    void reads(String reader, Value value) {
        Value known = defined.get(value.id());
        if (known == null) {
            throw refusal(reader + " reads " + value + " before it is defined");
        }
        if (known.width() != value.width()) {
            throw refusal(reader + " reads " + value + ", which was defined as " + known);
        }
    }

    private void expansion(CustomOp op, String name) {
        if (depth == MOST_NESTED) {
            throw refusal(name + " expands into custom ops more than " + MOST_NESTED
                    + " deep; an op must not expand into itself");
        }
        List<Op> inner = new ArrayList<>(op.expand());
        if (inner.isEmpty()) {
            throw refusal(name + " expands into nothing");
        }
        GraphCheck check = new GraphCheck(this, op, name);
        for (Op step : inner) {
            check.op(step);
        }
        for (Value out : op.outputs()) {
            check.reads("what follows", out);
        }
        ownWeightsOnly(op, inner, name);
    }

    /// What a graph needs of a file is asked of the op, not of its expansion.
    private void ownWeightsOnly(CustomOp op, List<Op> inner, String name) {
        Set<String> listed = new HashSet<>();
        for (Weight weight : op.weights()) {
            listed.add(weight.name());
        }
        for (Op step : inner) {
            for (Weight weight : step.weights()) {
                if (!listed.contains(weight.name())) {
                    throw refusal(name + " expands into an op " + step.kind() + " that reads weight " + weight
                            + ", which is not among its own weights");
                }
            }
        }
    }

    private IllegalArgumentException refusal(String problem) {
        return new IllegalArgumentException(graph + inside + ": " + problem);
    }
}
