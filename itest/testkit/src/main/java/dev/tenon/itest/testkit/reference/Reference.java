package dev.tenon.itest.testkit.reference;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RecurrentOp;
import dev.tenon.api.graph.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/// A plain float64 interpreter of a [Graph]: the truth that every backend is compared with.
///
/// It runs the tokens of one sequence through the expanded graph, op by op; there are no vectors, threads or
/// pages in it. A step computes a row for every token, as if the logits of all were wanted. Weights are decoded
/// by their format, once, and used in float64. Slow on purpose; for models of a few million weights. Not safe
/// for several threads.
public final class Reference {
    private final Graph graph;
    private final ReferenceOps ops;
    private final DecodedWeights weights;
    /// Index of the op that reads a value last.
    private final Map<Integer, Integer> lastReader = new HashMap<>();

    /// Prepares a graph of ops of the api and such as compute themselves.
    ///
    /// @param graph any graph; [dev.tenon.api.graph.CustomOp]s are expanded
    /// @param weights its weights; borrowed while this object is used
    /// @throws IllegalArgumentException if an op is not of the api, does not expand into such ops and is no
    ///     [dev.tenon.api.graph.ReferenceOp]
    public Reference(Graph graph, Weights weights) {
        this(graph, weights, ReferenceOps.ALL);
    }

    /// Prepares a graph.
    ///
    /// @param graph any graph; [dev.tenon.api.graph.CustomOp]s are expanded
    /// @param weights its weights; borrowed while this object is used
    /// @param ops what ops compute
    /// @throws IllegalArgumentException if an op has no row there
    public Reference(Graph graph, Weights weights, ReferenceOps ops) {
        this.graph = graph.expanded();
        this.ops = ops;
        this.weights = new DecodedWeights(weights);
        for (int i = 0; i < this.graph.ops().size(); i++) {
            Op op = this.graph.ops().get(i);
            if (ops.row(op).isEmpty()) {
                throw new IllegalArgumentException("op " + op.kind() + " (" + op.getClass() + ") has no reference");
            }
            for (Value input : op.inputs()) {
                lastReader.put(input.id(), i);
            }
        }
        lastReader.put(graph.output().id(), Integer.MAX_VALUE);
    }

    /// {@return a new, empty sequence}
    public Sequence newSequence() {
        return new Sequence();
    }

    /// {@return how much worse a router's choice is than the one that follows from its logits: the largest
    /// difference of two scores at the same place, as a fraction of the largest score; infinite for what is
    /// no choice of different experts}
    ///
    /// @param router an op of the graph
    /// @param logits a row of its input
    /// @param chosen the experts
    public double misrouted(ExpertOp.Router router, float[] logits, float[] chosen) {
        return ExpertOps.misrouted(router.params(), doubles(logits), doubles(chosen), weights);
    }

    private static double[] doubles(float[] row) {
        return IntStream.range(0, row.length).mapToDouble(i -> row[i]).toArray();
    }

    /// One sequence with its own lists of keys and values.
    public final class Sequence implements KvStore {
        private final Map<Integer, List<double[]>> keys = new HashMap<>();
        private final Map<Integer, List<double[]>> values = new HashMap<>();
        private final Map<Op, double[]> states = new HashMap<>();
        private final Map<Integer, float[]> given = new HashMap<>();
        private float[] adapters = {};
        private int length;

        private Sequence() {}

        /// Uses adapters for the tokens that follow.
        ///
        /// @param scales the scale of each adapter of the graph; those after the last one are not used
        /// @return this
        public Sequence adapters(float... scales) {
            adapters = scales.clone();
            return this;
        }

        /// Gives the tokens that are fed next rows of their own.
        ///
        /// @param rows a row for each; null for zeros
        /// @return this
        public Sequence given(float[]... rows) {
            for (int t = 0; t < rows.length; t++) {
                given.put(length + t, rows[t]);
            }
            return this;
        }

        /// Feeds tokens at the next positions, in one step.
        ///
        /// @param tokens token ids
        /// @return the graph's output after each of the tokens, `[tokens.length][width]`
        public double[][] feed(int... tokens) {
            return feed(tokens, (value, rows) -> {});
        }

        /// Feeds tokens at the next positions, in one step.
        ///
        /// @param tokens token ids
        /// @param seen is told every value of the graph and its rows, in the order of the ops; borrowed
        /// @return the graph's output after each of the tokens, `[tokens.length][width]`
        public double[][] feed(int[] tokens, BiConsumer<Value, double[][]> seen) {
            int[] positions = IntStream.range(length, length + tokens.length).toArray();
            double[][] rows = evaluate(tokens, positions, this, seen);
            length += tokens.length;
            return rows;
        }

        /// {@return the number of tokens fed}
        public int length() {
            return length;
        }

        @Override
        public void put(int layer, int position, double[] key, double[] value) {
            put(keys.computeIfAbsent(layer, l -> new ArrayList<>()), position, key);
            put(values.computeIfAbsent(layer, l -> new ArrayList<>()), position, value);
        }

        /// The ops of one layer put the same.
        private static void put(List<double[]> rows, int position, double[] row) {
            if (position == rows.size()) {
                rows.add(row);
            } else {
                rows.set(position, row);
            }
        }

        @Override
        public double[] key(int layer, int position) {
            return keys.get(layer).get(position);
        }

        @Override
        public double[] value(int layer, int position) {
            return values.get(layer).get(position);
        }

        @Override
        public float[] given(int position) {
            return given.get(position);
        }

        @Override
        public float adapterScale(int adapter) {
            return adapter < adapters.length ? adapters[adapter] : 0;
        }

        @Override
        public double[] state(Op op) {
            return states.computeIfAbsent(op, o -> new double[Math.toIntExact(RecurrentOp.stateFloats(o))]);
        }
    }

    /// Runs the graph for tokens of one sequence.
    ///
    /// @param tokens token ids
    /// @param positions their positions, ascending; all before them have been evaluated with the same store
    /// @param kv keys and values of the sequence
    /// @return the graph's output, `[tokens.length][width]`
    public double[][] evaluate(int[] tokens, int[] positions, KvStore kv) {
        return evaluate(tokens, positions, kv, (value, rows) -> {});
    }

    double[][] evaluate(int[] tokens, int[] positions, KvStore kv, BiConsumer<Value, double[][]> seen) {
        Step step = new Step(weights, kv, tokens, positions);
        Map<Integer, double[][]> values = new HashMap<>();
        for (int i = 0; i < graph.ops().size(); i++) {
            int index = i;
            Op op = graph.ops().get(i);
            double[][][] in = op.inputs().stream().map(v -> values.get(v.id())).toArray(double[][][]::new);
            double[][][] out = ops.row(op).orElseThrow().formula().of(op, in, step);
            for (int o = 0; o < out.length; o++) {
                values.put(op.outputs().get(o).id(), out[o]);
                seen.accept(op.outputs().get(o), out[o]);
            }
            values.keySet().removeIf(id -> lastReader.getOrDefault(id, -1) <= index);
        }
        return values.get(graph.output().id());
    }
}
