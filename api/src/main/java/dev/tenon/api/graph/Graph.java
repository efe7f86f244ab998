package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// An immutable list of ops in an order that can run: each value is defined once, before it is read.
///
/// @param name what reports call it, such as `llama`
/// @param ops the ops
/// @param output the logits, `[L, nVocab]`
public record Graph(String name, List<Op> ops, Value output) {
    /// Checks that each value is defined once and before its use.
    public Graph {
        ops = List.copyOf(ops);
        Set<Integer> defined = new HashSet<>();
        for (Op op : ops) {
            for (Value input : op.inputs()) {
                if (!defined.contains(input.id())) {
                    throw new IllegalArgumentException(op.kind() + " reads " + input + " before it is defined");
                }
            }
            for (Value out : op.outputs()) {
                if (!defined.add(out.id())) {
                    throw new IllegalArgumentException(op.kind() + " defines " + out + " a second time");
                }
            }
        }
        if (!defined.contains(output.id())) {
            throw new IllegalArgumentException("nothing defines the output " + output);
        }
    }

    /// {@return all weights, each once, in the order of their first use}
    public List<Weight> weights() {
        Map<String, Weight> weights = new LinkedHashMap<>();
        for (Op op : ops) {
            op.weights().forEach(w -> weights.putIfAbsent(w.name(), w));
        }
        return List.copyOf(weights.values());
    }

    /// {@return the attention ops in the order of their layers, which is what a KV cache needs to know}
    public List<CoreOp.Attention> attentionLayers() {
        List<CoreOp.Attention> layers = new ArrayList<>();
        for (Op op : ops) {
            if (op instanceof CoreOp.Attention attention) {
                layers.add(attention);
            }
        }
        layers.sort((a, b) -> Integer.compare(a.layer(), b.layer()));
        return layers;
    }

    /// {@return the largest value id plus one}
    public int valueCount() {
        int max = -1;
        for (Op op : ops) {
            for (Value out : op.outputs()) {
                max = Math.max(max, out.id());
            }
        }
        return max + 1;
    }

    /// {@return the same graph with every [CustomOp] replaced by its expansion, down to core ops}
    public Graph expanded() {
        List<Op> flat = new ArrayList<>();
        ops.forEach(op -> expandInto(op, flat));
        return new Graph(name, flat, output);
    }

    private static void expandInto(Op op, List<Op> target) {
        if (op instanceof CustomOp custom) {
            custom.expand().forEach(inner -> expandInto(inner, target));
        } else {
            target.add(op);
        }
    }
}
