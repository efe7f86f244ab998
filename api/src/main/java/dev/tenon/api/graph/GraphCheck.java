package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Follows the ops of a graph, or of an expansion, and refuses the first that does not fit what was before it.
final class GraphCheck {
    /// Custom ops in custom ops, at most; more is an op that expands into itself.
    private static final int MOST_NESTED = 16;

    private final String where;
    private final int depth;
    private final Map<Integer, Value> defined = new HashMap<>();
    private final Map<String, Weight> tensors;

    GraphCheck(String where) {
        this(where, 0, new HashMap<>());
    }

    private GraphCheck(String where, int depth, Map<String, Weight> tensors) {
        this.where = where;
        this.depth = depth;
        this.tensors = tensors;
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
        if (op instanceof CustomOp custom) {
            expansion(custom, name);
        }
        for (Value out : op.outputs()) {
            if (defined.putIfAbsent(out.id(), out) != null) {
                throw refusal(
                        name + " defines " + out + ", whose id " + out.id() + " is that of " + defined.get(out.id()));
            }
        }
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
        GraphCheck check = new GraphCheck(where + ", expansion of " + name, depth + 1, tensors);
        for (Value input : op.inputs()) {
            check.defined.put(input.id(), input);
        }
        for (Op step : inner) {
            check.op(step);
        }
        for (Value out : op.outputs()) {
            check.reads("what follows", out);
        }
    }

    private IllegalArgumentException refusal(String problem) {
        return new IllegalArgumentException(where + ": " + problem);
    }
}
