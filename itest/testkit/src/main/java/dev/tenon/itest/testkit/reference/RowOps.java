package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.CentredConvolution;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.GivenRows;
import dev.tenon.api.graph.JoinRows;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Pooling;
import dev.tenon.api.graph.ReplaceRows;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Weight;
import dev.tenon.itest.testkit.reference.DecodedWeights.Matrix;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BinaryOperator;

/// The ops on whole rows. Formulas stand in the descriptions of the ops.
final class RowOps {
    static final List<OpReference<?>> ROWS = List.of(
            OpReference.row(CoreOp.Embedding.class, (e, _, step, t) -> step.weights.row(e.table(), step.token(t))),
            OpReference.row(
                    CoreOp.PositionEmbedding.class, (e, _, step, t) -> step.weights.row(e.table(), step.position(t))),
            OpReference.row(
                    GivenRows.class, (g, _, step, t) -> step.given(t, g.out().width())),
            OpReference.row(CoreOp.Repeat.class, (r, _, step, _) -> step.vector(r.row())),
            OpReference.row(CoreOp.RmsNorm.class, (n, in, step, _) -> rmsNorm(in[0], step.vector(n.weight()), n.eps()))
                    .terms(n -> n.weight().cols())
                    .enlarging(n -> n.weight().cols() < n.x().width()),
            OpReference.row(
                            CoreOp.LayerNorm.class,
                            (n, in, step, _) -> layerNorm(
                                    in[0], step.vector(n.weight()), n.bias().map(step::vector), n.eps()))
                    .terms(n -> n.weight().cols()),
            OpReference.row(
                            PartOp.GroupedRmsNorm.class,
                            (n, in, step, _) -> grouped(
                                    in[0], n.weight(), step.weights, (x, weight) -> rmsNorm(x, weight, n.eps())))
                    .terms(n -> n.weight().cols()),
            OpReference.row(
                            PartOp.GroupedLayerNorm.class,
                            (n, in, step, _) -> grouped(
                                    in[0],
                                    n.weight(),
                                    step.weights,
                                    (x, weight) -> layerNorm(x, weight, Optional.empty(), n.eps())))
                    .terms(n -> n.weight().cols()),
            OpReference.row(PartOp.PlainRmsNorm.class, (n, in, _, _) -> plainRmsNorm(n, in[0]))
                    .terms(n -> n.x().width() / n.groups())
                    .enlarging(n -> n.groups() > 1),
            OpReference.row(PartOp.GroupMean.class, (m, in, _, _) -> groupMean(m, in[0]))
                    .terms(PartOp.GroupMean::length)
                    .enlarging(_ -> true),
            OpReference.row(PartOp.Transpose.class, (r, in, _, _) -> transpose(in[0], r.groups())),
            OpReference.row(PartOp.Clamp.class, (c, in, step, _) -> clamp(c, in[0], step)),
            OpReference.row(
                            PartOp.TransposedLinear.class,
                            (l, in, step, _) -> transposedLinear(in[0], step.weights.matrix(l.weight(), 0)))
                    .terms(l -> l.weight().rows())
                    .enlarging(_ -> true),
            OpReference.row(PartOp.Slice.class, (s, in, _, _) -> slice(s, in[0])),
            OpReference.row(PartOp.Join.class, (j, in, _, _) -> join(in[0], in[1], j.groups())),
            OpReference.row(PartOp.HeadLinear.class, (l, in, step, _) -> headLinear(l.weight(), in[0], step.weights))
                    .product(PartOp.HeadLinear::weight),
            OpReference.row(
                            CoreOp.Linear.class,
                            (l, in, step, _) -> linear(
                                    in[0],
                                    step.weights.matrix(l.weight(), 0),
                                    l.bias().map(step::vector)))
                    .product(CoreOp.Linear::weight),
            OpReference.of(LowRankAdd.class, RowOps::lowRankAdd)
                    .product(add -> add.parts().getFirst().a()),
            // Angles that are computed in float32 lose 2^-24 of the position.
            OpReference.row(CoreOp.Rope.class, (r, in, step, t) -> rope(r.params(), in[0], step, t))
                    .terms(_ -> 2)
                    .losing(0x1p-24),
            OpReference.row(ReplaceRows.class, (r, in, step, t) -> replaced(in[0], step.kv.given(step.position(t)))),
            OpReference.row(CoreOp.SelectRows.class, (_, in, _, _) -> in[0]),
            OpReference.of(JoinRows.class, (j, in, _) -> new double[][][] {joined(in[0], j.count())}),
            OpReference.of(CentredConvolution.class, RowOps::centred).terms((c, _) -> c.taps()),
            OpReference.of(CoreOp.Pool.class, RowOps::pool).terms((_, tokens) -> tokens));

    private RowOps() {}

    /// A step has rows of one sequence.
    private static double[][][] pool(CoreOp.Pool op, double[][][] in, Step step) {
        double[][] rows = in[0];
        double[] pooled = rows[0];
        if (op.pooling() == Pooling.MEAN) {
            pooled = new double[rows[0].length];
            Arrays.setAll(
                    pooled,
                    i -> Arrays.stream(rows)
                            .mapToDouble(row -> row[i])
                            .average()
                            .orElseThrow());
        }
        double[][] out = new double[step.count()][];
        Arrays.fill(out, pooled);
        return new double[][][] {out};
    }

    /// A step has rows of one sequence, all of them.
    private static double[][][] centred(CentredConvolution op, double[][][] in, Step step) {
        double[][] rows = in[0];
        Optional<double[]> bias = op.bias().map(step::vector);
        double[][] out = new double[rows.length][op.out().width()];
        for (int i = 0; i < op.out().width(); i++) {
            double[] taps = step.weights.row(op.weight(), i);
            for (int t = 0; t < rows.length; t++) {
                out[t][i] = bias.isPresent() ? bias.get()[i] : 0;
                for (int j = 0; j < taps.length; j++) {
                    int from = t - op.before() + j;
                    out[t][i] += from >= 0 && from < rows.length ? taps[j] * rows[from][i] : 0;
                }
            }
        }
        return new double[][][] {out};
    }

    /// What adapters make of projections, with the scales of the sequence.
    private static double[][][] lowRankAdd(LowRankAdd op, double[][][] in, Step step) {
        double[][] out = new double[in[0].length][];
        for (int t = 0; t < out.length; t++) {
            double[] sum = in[1][t].clone();
            for (LowRankAdd.Part part : op.parts()) {
                double factor = (double) step.kv.adapterScale(part.adapter()) * part.factor();
                double[] down = linear(in[0][t], step.weights.matrix(part.a(), 0), Optional.empty());
                double[] delta = linear(down, step.weights.matrix(part.b(), 0), Optional.empty());
                for (int i = 0; i < sum.length; i++) {
                    sum[i] += factor * delta[i];
                }
            }
            out[t] = sum;
        }
        return new double[][][] {out};
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
    private static double[] grouped(double[] x, Weight weight, DecodedWeights weights, BinaryOperator<double[]> norm) {
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

    private static double[] groupMean(PartOp.GroupMean op, double[] x) {
        double[] out = new double[x.length];
        for (int start = 0; start < x.length; start += op.length()) {
            double mean = Arrays.stream(x, start, start + op.length()).average().orElseThrow();
            Arrays.fill(out, start, start + op.length(), mean);
        }
        return out;
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

    private static double[] headLinear(Weight weight, double[] x, DecodedWeights weights) {
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

    private static double[] replaced(double[] x, float[] row) {
        double[] out = x.clone();
        for (int i = 0; row != null && i < out.length; i++) {
            out[i] = row[i];
        }
        return out;
    }

    private static double[] transpose(double[] x, int groups) {
        double[] out = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            out[i % (x.length / groups) * groups + i / (x.length / groups)] = x[i];
        }
        return out;
    }

    private static double[] clamp(PartOp.Clamp op, double[] x, Step step) {
        double least = op.least().map(weight -> step.vector(weight)[0]).orElse(Double.NEGATIVE_INFINITY);
        double most = op.most().map(weight -> step.vector(weight)[0]).orElse(Double.POSITIVE_INFINITY);
        return Arrays.stream(x)
                .map(each -> Math.min(Math.max(each, least), most))
                .toArray();
    }

    private static double[] transposedLinear(double[] x, Matrix weight) {
        double[] out = new double[weight.cols()];
        for (int r = 0; r < x.length; r++) {
            for (int c = 0; c < out.length; c++) {
                out[c] += weight.at(r, c) * x[r];
            }
        }
        return out;
    }

    /// Zeros stand for rows before the first one; a row with such is of no use.
    private static double[][] joined(double[][] rows, int count) {
        int width = rows[0].length;
        double[][] out = new double[rows.length][count * width];
        for (int t = 0; t < rows.length; t++) {
            for (int i = Math.max(0, count - 1 - t); i < count; i++) {
                System.arraycopy(rows[t - count + 1 + i], 0, out[t], i * width, width);
            }
        }
        return out;
    }

    private static double[] linear(double[] x, Matrix weight, Optional<double[]> bias) {
        double[] out = bias.orElseGet(() -> new double[weight.rows()]);
        for (int r = 0; r < out.length; r++) {
            for (int c = 0; c < x.length; c++) {
                out[r] += weight.at(r, c) * x[c];
            }
        }
        return out;
    }

    private static double[] rope(RopeParams params, double[] x, Step step, int t) {
        Optional<double[]> factors = params.freqFactors().map(step::vector);
        int pairs = params.ropeDim() / 2;
        int half = params.span() / 2;
        double[] out = x.clone();
        for (int head = 0; head < x.length; head += params.headDim()) {
            for (int i = 0; i < pairs; i++) {
                boolean interleaved = params.pairing() == RopeParams.Pairing.INTERLEAVED;
                int first = head + (interleaved ? 2 * i : i / half * 2 * half + i % half);
                int second = first + (interleaved ? 1 : half);
                int position = step.position(t) - step.position(t) % params.run();
                if (!params.turns().isEmpty()) {
                    position =
                            step.kv.coordinate(position, params.turns().get(i).axis());
                }
                double angle = position * params.frequency(i) / (factors.isPresent() ? factors.get()[i] : 1);
                double cos = Math.cos(angle) * params.attentionFactor();
                double sin = Math.sin(angle) * params.attentionFactor();
                out[first] = x[first] * cos - x[second] * sin;
                out[second] = x[first] * sin + x[second] * cos;
            }
        }
        return out;
    }
}
