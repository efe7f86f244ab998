package ${package};

import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import java.util.HashMap;
import java.util.Map;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntFunction;

/// The ops of a usual decoder for a single row, in float64. Weights are decoded when they are first used, and kept.
final class PlainOps {
    private final Weights weights;
    private final Map<String, float[]> decoded = new HashMap<>();

    PlainOps(Weights weights) {
        this.weights = weights;
    }

    /// {@return whether an op runs here; a backend refuses what it does not compute, for a wrong result is worse}
    ///
    /// @param op any op
    static boolean knows(Op op) {
        return switch (op) {
            case CoreOp.Attention a ->
                a.params().causal()
                        && !a.params().spans()
                        && a.params().sinks().isEmpty()
                        && a.params().scoreBias().isEmpty();
            case CoreOp.Activate a -> a.activation() != Activation.GELU_ERF;
            case CoreOp.Rope r ->
                r.params().turns().isEmpty()
                        && r.params().run() == 1
                        && r.params().span() == r.params().ropeDim()
                        && op.weights().stream().noneMatch(Weight::isView);
            case CoreOp.Embedding _,
                    CoreOp.RmsNorm _,
                    CoreOp.Linear _,
                    CoreOp.Add _,
                    CoreOp.Multiply _,
                    CoreOp.Scale _,
                    CoreOp.SoftCap _,
                    CoreOp.SelectRows _ -> op.weights().stream().noneMatch(Weight::isView);
            default -> false;
        };
    }

    /// Computes any known op but attention.
    ///
    /// @param op the op
    /// @param rows the row of each value so far, by the value's id
    /// @param token the token id
    /// @param position the token's position
    /// @return the op's output
    double[] run(Op op, double[][] rows, int token, int position) {
        return switch (op) {
            case CoreOp.Embedding e -> row(e.table(), token);
            case CoreOp.RmsNorm n -> rmsNorm(n, rows[n.x().id()]);
            case CoreOp.Linear l -> linear(l, rows[l.x().id()]);
            case CoreOp.Rope r -> rope(r.params(), rows[r.x().id()], position);
            case CoreOp.Add a -> both(rows[a.a().id()], rows[a.b().id()], Double::sum);
            case CoreOp.Multiply m -> both(rows[m.a().id()], rows[m.b().id()], (x, y) -> x * y);
            case CoreOp.Activate a -> each(rows[a.x().id()], function(a.activation()));
            case CoreOp.Scale s -> each(rows[s.x().id()], x -> x * s.factor());
            case CoreOp.SoftCap s -> each(rows[s.x().id()], x -> s.cap() * Math.tanh(x / s.cap()));
            case CoreOp.SelectRows s -> rows[s.x().id()];
            default -> throw new IllegalStateException("compile let the op " + op.kind() + " through");
        };
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
        float[] values = decode(table);
        double[] out = new double[table.cols()];
        for (int c = 0; c < out.length; c++) {
            out[c] = values[r * out.length + c];
        }
        return out;
    }

    private double[] rmsNorm(CoreOp.RmsNorm op, double[] x) {
        float[] weight = decode(op.weight());
        double[] out = new double[x.length];
        for (int start = 0; start < x.length; start += weight.length) {
            double squares = 0;
            for (int i = 0; i < weight.length; i++) {
                squares += x[start + i] * x[start + i];
            }
            double inverse = 1 / Math.sqrt(squares / weight.length + op.eps());
            for (int i = 0; i < weight.length; i++) {
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
        boolean interleaved = params.pairing() == RopeParams.Pairing.INTERLEAVED;
        int pairs = params.ropeDim() / 2;
        double[] out = x.clone();
        for (int head = 0; head < x.length; head += params.headDim()) {
            for (int i = 0; i < pairs; i++) {
                int first = head + (interleaved ? 2 * i : i);
                int second = head + (interleaved ? 2 * i + 1 : i + pairs);
                double angle = position * params.frequency(i) / (factors == null ? 1 : factors[i]);
                double cos = Math.cos(angle) * params.attentionFactor();
                double sin = Math.sin(angle) * params.attentionFactor();
                out[first] = x[first] * cos - x[second] * sin;
                out[second] = x[first] * sin + x[second] * cos;
            }
        }
        return out;
    }

    /// Computes attention for one token, whose own key and value are in the cache already.
    ///
    /// @param op the op
    /// @param q the query row
    /// @param position the token's position
    /// @param keys the key row of a position
    /// @param values the value row of a position
    /// @return the op's output
    static double[] attention(
            CoreOp.Attention op, double[] q, int position, IntFunction<float[]> keys, IntFunction<float[]> values) {
        int keyLength = op.keyLength();
        int valueLength = op.valueLength();
        double cap = op.params().softCap();
        int from = op.params().firstSeen(position);
        double[] out = new double[op.headCount() * valueLength];
        for (int head = 0; head < op.headCount(); head++) {
            int group = head / (op.headCount() / op.headCountKv());
            double[] scores = new double[position + 1];
            double max = Double.NEGATIVE_INFINITY;
            for (int p = from; p <= position; p++) {
                float[] key = keys.apply(p);
                double dot = 0;
                for (int i = 0; i < keyLength; i++) {
                    dot += q[head * keyLength + i] * key[group * keyLength + i];
                }
                double score = dot * op.params().scale();
                scores[p] = cap == 0 ? score : cap * Math.tanh(score / cap);
                max = Math.max(max, scores[p]);
            }
            double sum = 0;
            for (int p = from; p <= position; p++) {
                scores[p] = Math.exp(scores[p] - max);
                sum += scores[p];
            }
            for (int p = from; p <= position; p++) {
                float[] value = values.apply(p);
                for (int i = 0; i < valueLength; i++) {
                    out[head * valueLength + i] += scores[p] / sum * value[group * valueLength + i];
                }
            }
        }
        return out;
    }

    private static DoubleUnaryOperator function(Activation activation) {
        return switch (activation) {
            case SILU -> x -> x / (1 + Math.exp(-x));
            case GELU_TANH ->
                x -> 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
            case RELU -> x -> Math.max(x, 0);
            case RELU_SQUARED -> x -> Math.max(x, 0) * Math.max(x, 0);
            case SIGMOID -> x -> 1 / (1 + Math.exp(-x));
            case TANH -> Math::tanh;
            case GELU_ERF -> throw new IllegalArgumentException("GELU_ERF is refused by supports");
        };
    }

    private static double[] each(double[] x, DoubleUnaryOperator function) {
        double[] out = new double[x.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = function.applyAsDouble(x[i]);
        }
        return out;
    }

    private static double[] both(double[] a, double[] b, DoubleBinaryOperator function) {
        double[] out = new double[a.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = function.applyAsDouble(a[i], b[i]);
        }
        return out;
    }

    static float[] narrow(double[] row) {
        float[] out = new float[row.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = (float) row[i];
        }
        return out;
    }
}
