package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// An immutable list of ops in an order that can run: each value is defined once, before it is read.
///
/// @param name what reports call it, such as `llama`
/// @param ops the ops
/// @param output the default output: the logits, `[L, vocabularySize]`, or an encoder's embeddings
/// @param outputs further outputs by name, such as hidden states, in an order that stays; may hold rows of
///     all tokens, `[T, width]`, or those of the default output; unmodifiable
public record Graph(String name, List<Op> ops, Value output, Map<String, Value> outputs) {
    /// Name of the default output where outputs are named.
    public static final String LOGITS = "logits";

    /// Usual name of the last hidden states, `[L, embeddingLength]`: what the logits, or embeddings, are
    /// made of, after the last norm.
    public static final String HIDDEN = "hidden";

    /// Usual name of the last hidden states of all tokens of a step, `[T, embeddingLength]`, after the last norm: what
    /// a [head][dev.tenon.api.model.ModelArchitecture#head] reads.
    public static final String HIDDEN_ROWS = "hidden_rows";

    /// Usual name of the vectors that an encoder makes of whole texts, `[L, width]`, not scaled to length 1. Models
    /// whose file names a pooling of [#HIDDEN], and nothing after it, need not have it.
    public static final String EMBEDDING = "embedding";

    /// Usual name of the scores that a reranker gives a text that holds a query and a document, `[L, labels]`, before
    /// any softmax.
    public static final String SCORES = "scores";

    /// Checks that each value is defined once and before its use, always with one width, that a tensor has one
    /// shape, that attention ops of one layer share it, and that the expansion of each [CustomOp] defines it and
    /// reads no weights but its own.
    ///
    /// @throws IllegalArgumentException if not, naming op and value
    public Graph {
        Objects.requireNonNull(name, "name");
        ops = List.copyOf(ops);
        outputs = Collections.unmodifiableMap(new LinkedHashMap<>(outputs));
        GraphCheck check = new GraphCheck("graph " + name);
        for (Op op : ops) {
            check.op(op);
        }
        check.reads("the default output", output);
        for (Map.Entry<String, Value> named : outputs.entrySet()) {
            check.reads("output " + named.getKey(), named.getValue());
        }
    }

    /// A graph with its default output only.
    ///
    /// @param name what reports call it
    /// @param ops the ops
    /// @param output the default output
    public Graph(String name, List<Op> ops, Value output) {
        this(name, ops, output, Map.of());
    }

    /// {@return a graph of other ops that define the same outputs}
    ///
    /// @param others the ops
    public Graph withOps(List<Op> others) {
        return new Graph(name, others, output, outputs);
    }

    /// Keeps some outputs, and the ops that they need.
    ///
    /// @param names the first is the default output of the new graph, the others are named outputs;
    ///     [#LOGITS] is this graph's default output
    /// @return the graph
    /// @throws IllegalArgumentException if there is no such output, or no name
    public Graph withOutputs(List<String> names) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("graph " + name + ": no output is asked for; expected at least one");
        }
        Map<String, Value> kept = new LinkedHashMap<>();
        for (String key : names) {
            Value value = key.equals(LOGITS) ? output : outputs.get(key);
            if (value == null) {
                throw new IllegalArgumentException("graph " + name + " has no output " + key + "; it has " + LOGITS
                        + outputs.keySet().stream().map(k -> ", " + k).collect(Collectors.joining()));
            }
            kept.put(key, value);
        }
        Set<Integer> needed = new HashSet<>();
        kept.values().forEach(value -> needed.add(value.id()));
        List<Op> live = new ArrayList<>();
        for (Op op : ops.reversed()) {
            if (op.outputs().stream().anyMatch(value -> needed.contains(value.id()))) {
                op.inputs().forEach(value -> needed.add(value.id()));
                live.add(op);
            }
        }
        Value first = kept.remove(names.getFirst());
        return new Graph(name, live.reversed(), first, kept);
    }

    /// {@return all tensors that are used, whole or in part, each once, in the order of their first use}
    public List<Weight> weights() {
        Map<String, Weight> weights = new LinkedHashMap<>();
        for (Op op : ops) {
            for (Weight weight : op.weights()) {
                weights.putIfAbsent(weight.name(), weight.tensor());
            }
        }
        return List.copyOf(weights.values());
    }

    /// {@return the attention ops in the order of their layers, those of [SelectedAttention] and both of [RunAttention]
    ///     among them; several of one layer in the order in which they run, of which the first appends}
    public List<CoreOp.Attention> attentionLayers() {
        return layers(op -> !(op instanceof SelectPositions));
    }

    /// {@return the attention op that appends to each layer, in the order of the layers, which is what a KV cache
    ///     needs to know; for the layer of a [SelectPositions], [SelectPositions#cache()]}
    public List<CoreOp.Attention> cacheLayers() {
        Map<Integer, CoreOp.Attention> layers = new LinkedHashMap<>();
        layers(_ -> true).forEach(attention -> layers.putIfAbsent(attention.layer(), attention));
        return List.copyOf(layers.values());
    }

    /// {@return what an op keeps in the KV cache; empty for most}
    static List<CoreOp.Attention> cached(Op op) {
        return switch (op) {
            case CoreOp.Attention attention -> List.of(attention);
            case SelectedAttention selected -> List.of(selected.attention());
            case RunAttention runs -> List.of(runs.near(), runs.far());
            case SelectPositions positions -> List.of(positions.cache());
            default -> List.of();
        };
    }

    private List<CoreOp.Attention> layers(Predicate<Op> which) {
        return ops.stream()
                .filter(which)
                .flatMap(op -> cached(op).stream())
                .sorted(Comparator.comparingInt(CoreOp.Attention::layer))
                .toList();
    }

    /// {@return all ops with a state, in the order in which they run; those inside of a [CustomOp] are not
    /// among them before it is expanded}
    public List<Op> opsWithState() {
        return ops.stream().filter(RecurrentOp::hasState).toList();
    }

    /// {@return those of [#opsWithState()] that are [StateOp]s}
    public List<StateOp> stateOps() {
        List<StateOp> found = new ArrayList<>();
        for (Op op : ops) {
            if (op instanceof StateOp state) {
                found.add(state);
            }
        }
        return found;
    }

    /// {@return whether no token sees a later one, so that a sequence may come in several steps; false for encoders}
    public boolean isCausal() {
        return expanded().ops.stream()
                .noneMatch(op -> op instanceof CentredConvolution
                        || op instanceof CoreOp.Attention attention
                                && !attention.params().causal());
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

    /// {@return the same graph with every [CustomOp] replaced by its expansion, down to other ops}
    public Graph expanded() {
        return expanded(op -> true);
    }

    /// {@return the same graph with some [CustomOp]s replaced by their expansions, and so on in these}
    ///
    /// @param which tells the ones to replace
    public Graph expanded(Predicate<CustomOp> which) {
        List<Op> flat = new ArrayList<>();
        for (Op op : ops) {
            expandInto(op, which, flat);
        }
        return withOps(flat);
    }

    private static void expandInto(Op op, Predicate<CustomOp> which, List<Op> target) {
        if (op instanceof CustomOp custom && which.test(custom)) {
            for (Op inner : custom.expand()) {
                expandInto(inner, which, target);
            }
        } else {
            target.add(op);
        }
    }
}
