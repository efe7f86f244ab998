package dev.tenon.itest.testkit;

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/// A plain float64 interpreter of a [Graph]: the truth that every backend is compared with.
///
/// It feeds one token after the other through the expanded graph, which is what causal attention means;
/// there are no
/// batches, vectors or pages in it. Weights are decoded by their [QuantFormat], once, and used in float64.
/// Slow on
/// purpose; for models of a few million weights. Not safe for several threads.
public final class Reference {
    private final Graph graph;
    private final Weights weights;
    private final Map<String, float[]> decoded = new HashMap<>();

    /// Prepares a graph.
    ///
    /// @param graph any graph; [dev.tenon.api.graph.CustomOp]s are expanded
    /// @param weights its weights; borrowed while this object is used
    /// @throws IllegalArgumentException if an op is neither core nor expands into core ops
    public Reference(Graph graph, Weights weights) {
        this.graph = graph.expanded();
        this.weights = weights;
        for (Op op : this.graph.ops()) {
            if (!(op instanceof CoreOp.Embedding
                    || op instanceof CoreOp.RmsNorm
                    || op instanceof CoreOp.Linear
                    || op instanceof CoreOp.Rope
                    || op instanceof CoreOp.Attention
                    || op instanceof CoreOp.Add
                    || op instanceof CoreOp.Multiply
                    || op instanceof CoreOp.Activate
                    || op instanceof CoreOp.Scale
                    || op instanceof CoreOp.SoftCap
                    || op instanceof CoreOp.SelectRows)) {
                throw new IllegalArgumentException("op " + op.kind() + " (" + op.getClass() + ") is not a core op");
            }
        }
    }

    /// Where keys and values of one sequence are kept.
    public interface KvStore {
        /// Keeps the key and value rows of a position.
        ///
        /// @param layer KV cache layer
        /// @param position 0-based
        /// @param key `[headCountKv * keyLength]`
        /// @param value `[headCountKv * valueLength]`
        void put(int layer, int position, double[] key, double[] value);

        /// {@return the key row of a position}
        ///
        /// @param layer KV cache layer
        /// @param position 0-based, at most the one put last
        double[] key(int layer, int position);

        /// {@return the value row of a position}
        ///
        /// @param layer KV cache layer
        /// @param position 0-based, at most the one put last
        double[] value(int layer, int position);
    }

    /// {@return a new, empty sequence}
    public Sequence newSequence() {
        return new Sequence();
    }

    /// One sequence with its own lists of keys and values.
    public final class Sequence implements KvStore {
        private final Map<Integer, List<double[]>> keys = new HashMap<>();
        private final Map<Integer, List<double[]>> values = new HashMap<>();
        private int length;

        private Sequence() {}

        /// Feeds tokens at the next positions.
        ///
        /// @param tokens token ids
        /// @return the graph's output behind each of the tokens, `[tokens.length][width]`
        public double[][] feed(int... tokens) {
            double[][] rows = new double[tokens.length][];
            for (int t = 0; t < tokens.length; t++) {
                rows[t] = feed(tokens[t], (value, row) -> {});
            }
            return rows;
        }

        /// Feeds one token at the next position.
        ///
        /// @param token token id
        /// @param seen is told every value of the graph and its row, in the order of the ops; borrowed
        /// @return the graph's output behind the token
        public double[] feed(int token, BiConsumer<Value, double[]> seen) {
            double[] row = evaluate(token, length, this, seen);
            length++;
            return row;
        }

        /// {@return the number of tokens fed}
        public int length() {
            return length;
        }

        @Override
        public void put(int layer, int position, double[] key, double[] value) {
            keys.computeIfAbsent(layer, l -> new ArrayList<>()).add(position, key);
            values.computeIfAbsent(layer, l -> new ArrayList<>()).add(position, value);
        }

        @Override
        public double[] key(int layer, int position) {
            return keys.get(layer).get(position);
        }

        @Override
        public double[] value(int layer, int position) {
            return values.get(layer).get(position);
        }
    }

    /// Runs the graph for a single token.
    ///
    /// @param token token id
    /// @param position its position; all before it have been evaluated with the same store
    /// @param kv keys and values of the token's sequence
    /// @return the graph's output `[width]`
    public double[] evaluate(int token, int position, KvStore kv) {
        return evaluate(token, position, kv, (value, row) -> {});
    }

    private double[] evaluate(int token, int position, KvStore kv, BiConsumer<Value, double[]> seen) {
        Map<Integer, double[]> rows = new HashMap<>();
        for (Op op : graph.ops()) {
            double[] out = switch (op) {
                case CoreOp.Embedding e -> row(e.table(), token);
                case CoreOp.RmsNorm n -> rmsNorm(n, get(rows, n.x()));
                case CoreOp.Linear l -> linear(l, get(rows, l.x()));
                case CoreOp.Rope r -> rope(r.params(), get(rows, r.x()), position);
                case CoreOp.Attention a -> {
                    kv.put(a.layer(), position, get(rows, a.k()), get(rows, a.v()));
                    yield attention(a, get(rows, a.q()), position, kv);
                }
                case CoreOp.Add a -> add(get(rows, a.a()), get(rows, a.b()));
                case CoreOp.Multiply m -> multiply(get(rows, m.a()), get(rows, m.b()));
                case CoreOp.Activate a -> activate(a.activation(), get(rows, a.x()));
                case CoreOp.Scale s -> scale(get(rows, s.x()), s.factor());
                case CoreOp.SoftCap s -> softCap(get(rows, s.x()), s.cap());
                case CoreOp.SelectRows s -> get(rows, s.x());
                default -> throw new IllegalArgumentException("op " + op.kind() + " is not a core op");
            };
            rows.put(op.outputs().getFirst().id(), out);
            seen.accept(op.outputs().getFirst(), out);
        }
        return get(rows, graph.output());
    }

    private static double[] get(Map<Integer, double[]> rows, Value value) {
        return rows.get(value.id());
    }

    private float[] decode(Weight weight) {
        return decoded.computeIfAbsent(weight.name(), name -> {
            QuantFormat format = weights.format(name);
            float[] values = new float[Math.multiplyExact(weight.cols(), weight.rows())];
            format.dequantize(weights.data(name), 0, values, 0, values.length);
            return values;
        });
    }

    private double[] row(Weight table, int r) {
        if (r < 0 || r >= table.rows()) {
            throw new IllegalArgumentException("token " + r + " is not in 0 to " + (table.rows() - 1));
        }
        float[] values = decode(table);
        double[] out = new double[table.cols()];
        for (int c = 0; c < out.length; c++) {
            out[c] = values[r * table.cols() + c];
        }
        return out;
    }

    private double[] rmsNorm(CoreOp.RmsNorm op, double[] x) {
        float[] weight = decode(op.weight());
        int group = op.weight().cols();
        double[] out = new double[x.length];
        for (int start = 0; start < x.length; start += group) {
            double squares = 0;
            for (int i = 0; i < group; i++) {
                squares += x[start + i] * x[start + i];
            }
            double inverse = 1 / Math.sqrt(squares / group + op.eps());
            for (int i = 0; i < group; i++) {
                out[start + i] = x[start + i] * inverse * weight[i];
            }
        }
        return out;
    }

    private double[] linear(CoreOp.Linear op, double[] x) {
        float[] weight = decode(op.weight());
        float[] bias = op.bias().map(this::decode).orElse(null);
        double[] out = new double[op.weight().rows()];
        for (int r = 0; r < out.length; r++) {
            double sum = bias == null ? 0 : bias[r];
            for (int c = 0; c < x.length; c++) {
                sum += weight[r * x.length + c] * x[c];
            }
            out[r] = sum;
        }
        return out;
    }

    private double[] rope(RopeParams params, double[] x, int position) {
        float[] factors = params.freqFactors().map(this::decode).orElse(null);
        int pairs = params.ropeDim() / 2;
        double[] out = x.clone();
        for (int head = 0; head < x.length; head += params.headDim()) {
            for (int i = 0; i < pairs; i++) {
                boolean interleaved = params.pairing() == RopeParams.Pairing.INTERLEAVED;
                int first = head + (interleaved ? 2 * i : i);
                int second = head + (interleaved ? 2 * i + 1 : i + pairs);
                double frequency = params.freqScale() * Math.pow(params.freqBase(), -2.0 * i / params.ropeDim());
                double angle = position * frequency / (factors == null ? 1 : factors[i]);
                out[first] = x[first] * Math.cos(angle) - x[second] * Math.sin(angle);
                out[second] = x[first] * Math.sin(angle) + x[second] * Math.cos(angle);
            }
        }
        return out;
    }

    private static double[] attention(CoreOp.Attention op, double[] q, int position, KvStore kv) {
        int keyLength = op.keyLength();
        int valueLength = op.valueLength();
        int from = op.slidingWindow() == 0 ? 0 : Math.max(0, position - op.slidingWindow() + 1);
        double[] out = new double[op.headCount() * valueLength];
        for (int h = 0; h < op.headCount(); h++) {
            int g = h / (op.headCount() / op.headCountKv());
            double[] scores = new double[position + 1];
            double max = Double.NEGATIVE_INFINITY;
            for (int p = from; p <= position; p++) {
                double[] key = kv.key(op.layer(), p);
                double dot = 0;
                for (int i = 0; i < keyLength; i++) {
                    dot += q[h * keyLength + i] * key[g * keyLength + i];
                }
                double score = dot * op.scale();
                scores[p] = op.softCap() == 0 ? score : op.softCap() * Math.tanh(score / op.softCap());
                max = Math.max(max, scores[p]);
            }
            double sum = 0;
            for (int p = from; p <= position; p++) {
                scores[p] = Math.exp(scores[p] - max);
                sum += scores[p];
            }
            for (int p = from; p <= position; p++) {
                double[] value = kv.value(op.layer(), p);
                for (int i = 0; i < valueLength; i++) {
                    out[h * valueLength + i] += scores[p] / sum * value[g * valueLength + i];
                }
            }
        }
        return out;
    }

    private static double[] add(double[] a, double[] b) {
        double[] out = new double[a.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = a[i] + b[i];
        }
        return out;
    }

    private static double[] multiply(double[] a, double[] b) {
        double[] out = new double[a.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = a[i] * b[i];
        }
        return out;
    }

    private static double[] scale(double[] x, double factor) {
        double[] out = new double[x.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = factor * x[i];
        }
        return out;
    }

    private static double[] softCap(double[] x, double cap) {
        double[] out = new double[x.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = cap * Math.tanh(x[i] / cap);
        }
        return out;
    }

    private static double[] activate(Activation activation, double[] x) {
        double[] out = new double[x.length];
        for (int i = 0; i < out.length; i++) {
            double v = x[i];
            out[i] = switch (activation) {
                case SILU -> v / (1 + Math.exp(-v));
                case GELU_TANH -> 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v * v * v)));
                case RELU -> Math.max(v, 0);
            };
        }
        return out;
    }
}
