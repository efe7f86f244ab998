package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.reference.DecodedWeights.Matrix;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.function.IntToDoubleFunction;

/// The ops that make a row of the same token's rows. Formulas stand in the descriptions of the ops.
final class RowOps {
    private final DecodedWeights weights;
    private final ExpertOps experts;

    RowOps(DecodedWeights weights) {
        this.weights = weights;
        this.experts = new ExpertOps(weights);
    }

    /// {@return whether an op is one of these}
    ///
    /// @param op any op
    static boolean knows(Op op) {
        return op instanceof ExpertOp
                || op instanceof PartOp.Slice
                || op instanceof PartOp.GroupedRmsNorm
                || op instanceof PartOp.GroupedLayerNorm
                || op instanceof PartOp.PlainRmsNorm
                || op instanceof PartOp.Join
                || op instanceof PartOp.HeadLinear
                || op instanceof ReferenceOp
                || op instanceof PositionScale
                || op instanceof CoreOp && !(op instanceof CoreOp.Attention) && !(op instanceof CoreOp.Pool);
    }

    /// Computes one row of each output.
    ///
    /// @param op an op that is known here
    /// @param in the row of each input
    /// @param token id of the token
    /// @param position its position
    /// @return the row of each output
    double[][] evaluate(Op op, double[][] in, int token, int position) {
        return switch (op) {
            case ExpertOp.Router r -> experts.router(r.params(), in[0]);
            case ReferenceOp r ->
                r.evaluate(in, r.weights().stream().map(weights::all).toArray(float[][]::new));
            default -> new double[][] {single(op, in, token, position)};
        };
    }

    private double[] single(Op op, double[][] in, int token, int position) {
        return switch (op) {
            case CoreOp.Embedding e -> weights.row(e.table(), token);
            case CoreOp.PositionEmbedding e -> weights.row(e.table(), position);
            case CoreOp.Repeat r -> weights.vector(r.row());
            case CoreOp.RmsNorm n -> rmsNorm(in[0], weights.vector(n.weight()), n.eps());
            case PartOp.GroupedRmsNorm n -> grouped(in[0], n.weight(), (x, weight) -> rmsNorm(x, weight, n.eps()));
            case PartOp.GroupedLayerNorm n ->
                grouped(in[0], n.weight(), (x, weight) -> layerNorm(x, weight, Optional.empty(), n.eps()));
            case PartOp.PlainRmsNorm n -> plainRmsNorm(n, in[0]);
            case PartOp.Slice s -> slice(s, in[0]);
            case PartOp.Join j -> join(in[0], in[1], j.groups());
            case PartOp.HeadLinear l -> headLinear(l.weight(), in[0]);
            case CoreOp.LayerNorm n ->
                layerNorm(in[0], weights.vector(n.weight()), n.bias().map(weights::vector), n.eps());
            case CoreOp.Linear l -> linear(in[0], weights.matrix(l.weight(), 0), l.bias());
            case CoreOp.Rope r -> rope(r.params(), in[0], position);
            case CoreOp.Add _ -> each(in[0], i -> in[0][i] + in[1][i]);
            case CoreOp.Multiply _ -> each(in[0], i -> in[0][i] * in[1][i]);
            case CoreOp.Activate a -> each(in[0], i -> activate(a.activation(), in[0][i]));
            case CoreOp.SwigluOai s -> each(in[0], i -> swigluOai(in[0][i], in[1][i], s.alpha(), s.limit()));
            case CoreOp.Scale s -> each(in[0], i -> s.factor() * in[0][i]);
            case CoreOp.SoftCap s -> each(in[0], i -> s.cap() * Math.tanh(in[0][i] / s.cap()));
            case CoreOp.SelectRows _ -> in[0];
            case PositionScale s -> {
                int steps = (position + s.offset()) / s.period();
                yield each(in[0], i -> in[0][i] * (1 + s.gain() * Math.log(1 + steps)));
            }
            case ExpertOp.ExpertLinear e -> experts.linear(e, in[0], in[1]);
            case ExpertOp.WeightedSum _ -> ExpertOps.weightedSum(in[0], in[1]);
            default -> throw new IllegalArgumentException("op " + op.kind() + " has no reference");
        };
    }

    /// Computes what adapters make of projections, with the scales of the rows' sequence.
    ///
    /// @param op the op
    /// @param in the rows of each input
    /// @param sequence knows the scales
    /// @return the rows of the output
    double[][] lowRankAdd(LowRankAdd op, double[][][] in, KvStore sequence) {
        double[][] out = new double[in[0].length][];
        for (int t = 0; t < out.length; t++) {
            double[] sum = in[1][t].clone();
            for (LowRankAdd.Part part : op.parts()) {
                double factor = (double) sequence.adapterScale(part.adapter()) * part.factor();
                double[] down = linear(in[0][t], weights.matrix(part.a(), 0), Optional.empty());
                double[] delta = linear(down, weights.matrix(part.b(), 0), Optional.empty());
                for (int i = 0; i < sum.length; i++) {
                    sum[i] += factor * delta[i];
                }
            }
            out[t] = sum;
        }
        return out;
    }

    private static double[] each(double[] like, IntToDoubleFunction function) {
        double[] out = new double[like.length];
        Arrays.setAll(out, function);
        return out;
    }

    private static double[] rmsNorm(double[] x, double[] weight, double eps) {
        double[] out = new double[x.length];
        for (int start = 0; start < x.length; start += weight.length) {
            double squares = 0;
            for (int i = 0; i < weight.length; i++) {
                squares += x[start + i] * x[start + i];
            }
            for (int i = 0; i < weight.length; i++) {
                out[start + i] = x[start + i] / Math.sqrt(squares / weight.length + eps) * weight[i];
            }
        }
        return out;
    }

    /// Norms groups, each with its row of a weight.
    private double[] grouped(double[] x, Weight weight, BinaryOperator<double[]> norm) {
        double[] out = new double[x.length];
        int length = weight.cols();
        for (int g = 0; g < weight.rows(); g++) {
            double[] group = Arrays.copyOfRange(x, g * length, (g + 1) * length);
            System.arraycopy(norm.apply(group, weights.row(weight, g)), 0, out, g * length, length);
        }
        return out;
    }

    private static double[] slice(PartOp.Slice op, double[] x) {
        int group = x.length / op.groups();
        double[] out = new double[op.out().width()];
        Arrays.setAll(out, i -> x[i / op.length() * group + op.from() + i % op.length()]);
        return out;
    }

    private static double[] plainRmsNorm(PartOp.PlainRmsNorm op, double[] x) {
        double[] ones = new double[op.length()];
        Arrays.fill(ones, 1);
        return rmsNorm(x, ones, op.eps());
    }

    private static double[] join(double[] a, double[] b, int groups) {
        double[] out = new double[a.length + b.length];
        int n = a.length / groups;
        int m = b.length / groups;
        for (int g = 0; g < groups; g++) {
            System.arraycopy(a, g * n, out, g * (n + m), n);
            System.arraycopy(b, g * m, out, g * (n + m) + n, m);
        }
        return out;
    }

    private double[] headLinear(Weight weight, double[] x) {
        int cols = weight.cols();
        double[] out = new double[weight.slices() * weight.rows()];
        for (int h = 0; h < weight.slices(); h++) {
            double[] head = Arrays.copyOfRange(x, h * cols, (h + 1) * cols);
            double[] result = linear(head, weights.matrix(weight, h), Optional.empty());
            System.arraycopy(result, 0, out, h * weight.rows(), weight.rows());
        }
        return out;
    }

    private static double[] layerNorm(double[] x, double[] weight, Optional<double[]> bias, double eps) {
        double[] out = new double[x.length];
        for (int start = 0; start < x.length; start += weight.length) {
            double[] group = Arrays.copyOfRange(x, start, start + weight.length);
            double mean = Arrays.stream(group).average().orElseThrow();
            double variance = Arrays.stream(group)
                    .map(v -> (v - mean) * (v - mean))
                    .average()
                    .orElseThrow();
            for (int i = 0; i < weight.length; i++) {
                double normed = (group[i] - mean) / Math.sqrt(variance + eps) * weight[i];
                out[start + i] = bias.isPresent() ? normed + bias.get()[i] : normed;
            }
        }
        return out;
    }

    private double[] linear(double[] x, Matrix weight, Optional<Weight> bias) {
        double[] out = bias.map(weights::vector).orElseGet(() -> new double[weight.rows()]);
        for (int r = 0; r < out.length; r++) {
            for (int c = 0; c < x.length; c++) {
                out[r] += weight.at(r, c) * x[c];
            }
        }
        return out;
    }

    private double[] rope(RopeParams params, double[] x, int position) {
        Optional<double[]> factors = params.freqFactors().map(weights::vector);
        int pairs = params.ropeDim() / 2;
        double[] out = x.clone();
        for (int head = 0; head < x.length; head += params.headDim()) {
            for (int i = 0; i < pairs; i++) {
                boolean interleaved = params.pairing() == RopeParams.Pairing.INTERLEAVED;
                int first = head + (interleaved ? 2 * i : i);
                int second = head + (interleaved ? 2 * i + 1 : i + pairs);
                double angle = position * params.frequency(i) / (factors.isPresent() ? factors.get()[i] : 1);
                double cos = Math.cos(angle) * params.attentionFactor();
                double sin = Math.sin(angle) * params.attentionFactor();
                out[first] = x[first] * cos - x[second] * sin;
                out[second] = x[first] * sin + x[second] * cos;
            }
        }
        return out;
    }

    private static double activate(Activation activation, double x) {
        return switch (activation) {
            case SILU -> x / (1 + Math.exp(-x));
            case GELU_TANH -> 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
            case RELU -> Math.max(x, 0);
            case RELU_SQUARED -> Math.max(x, 0) * Math.max(x, 0);
            case SIGMOID -> 1 / (1 + Math.exp(-x));
            case TANH -> Math.tanh(x);
            case GELU_ERF -> 0.5 * x * erfc(-x / Math.sqrt(2));
        };
    }

    /// {@return `1 - erf(x)`: its series near 0, its continued fraction (Lentz) elsewhere}
    private static double erfc(double x) {
        double square = x * x;
        if (square < 4) {
            double term = x;
            double sum = x;
            for (int n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
                term *= -square / n;
                sum += term / (2 * n + 1);
            }
            return 1 - 2 / Math.sqrt(Math.PI) * sum;
        }
        double fraction = 0;
        for (int n = 80; n > 0; n--) {
            fraction = n / 2.0 / (Math.abs(x) + fraction);
        }
        double tail = Math.exp(-square) / Math.sqrt(Math.PI) / (Math.abs(x) + fraction);
        return x > 0 ? tail : 2 - tail;
    }

    private static double swigluOai(double gate, double up, double alpha, double limit) {
        double a = Math.min(gate, limit);
        double b = Math.clamp(up, -limit, limit);
        return a / (1 + Math.exp(-alpha * a)) * (b + 1);
    }
}
