package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.itest.testkit.reference.DecodedWeights.Matrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/// The ops of mixtures of experts, for one row.
final class ExpertOps {
    static final List<OpReference<?>> ROWS = List.of(
            OpReference.rows(ExpertOp.Router.class, (r, in, step, _) -> router(r.params(), in[0], step.weights))
                    .terms(r -> r.logits().width()),
            OpReference.row(ExpertOp.ExpertLinear.class, (e, in, step, _) -> linear(e, in[0], in[1], step.weights))
                    .product(ExpertOp.ExpertLinear::weight),
            OpReference.row(ExpertOp.WeightedSum.class, (_, in, _, _) -> weightedSum(in[0], in[1]))
                    .terms(s -> s.shares().width()));

    private ExpertOps() {}

    /// {@return the chosen experts and their shares}
    private static double[][] router(RouterParams params, double[] logits, DecodedWeights weights) {
        double[] p = probabilities(params.gating(), logits);
        double[] scores = scores(params, p, weights);
        List<Integer> chosen = best(scores, eligible(scores, params)).subList(0, params.used());
        double sum = params.normalise()
                ? Math.max(
                        RouterParams.LEAST_SUM,
                        chosen.stream().mapToDouble(e -> p[e]).sum())
                : 1;
        return new double[][] {
            chosen.stream().mapToDouble(e -> e).toArray(),
            chosen.stream().mapToDouble(e -> p[e] / sum * params.scale()).toArray()
        };
    }

    private static double[] scores(RouterParams params, double[] probabilities, DecodedWeights weights) {
        double[] scores = probabilities.clone();
        params.bias().map(weights::vector).ifPresent(bias -> Arrays.setAll(scores, e -> probabilities[e] + bias[e]));
        return scores;
    }

    /// {@return how much worse than the best choice a choice is: the largest difference of two scores at the same
    /// place, as a fraction of the largest score; infinite if it is no choice of different experts}
    static double misrouted(RouterParams params, double[] logits, double[] chosen, DecodedWeights weights) {
        double[] scores = scores(params, probabilities(params.gating(), logits), weights);
        if (Arrays.stream(chosen).distinct().count() < chosen.length
                || Arrays.stream(chosen).anyMatch(e -> !(e >= 0 && e < scores.length) || e != Math.rint(e))) {
            return Double.POSITIVE_INFINITY;
        }
        List<Integer> best = best(scores, eligible(scores, params));
        double largest = Arrays.stream(scores).map(Math::abs).max().orElseThrow();
        return IntStream.range(0, chosen.length)
                        .mapToDouble(k -> Math.abs(scores[best.get(k)] - scores[(int) chosen[k]]))
                        .max()
                        .orElseThrow()
                / largest;
    }

    private static double[] probabilities(RouterParams.Gating gating, double[] logits) {
        return switch (gating) {
            case SOFTMAX -> {
                double max = Arrays.stream(logits).max().orElseThrow();
                double sum = Arrays.stream(logits).map(l -> Math.exp(l - max)).sum();
                yield Arrays.stream(logits).map(l -> Math.exp(l - max) / sum).toArray();
            }
            case SIGMOID ->
                Arrays.stream(logits).map(l -> 1 / (1 + Math.exp(-l))).toArray();
            case SOFTPLUS_ROOT ->
                Arrays.stream(logits)
                        .map(l -> Math.sqrt(Math.max(l, 0) + Math.log1p(Math.exp(-Math.abs(l)))))
                        .toArray();
        };
    }

    /// The experts of the groups whose two best have the highest sums.
    private static List<Integer> eligible(double[] scores, RouterParams params) {
        int size = scores.length / params.groups();
        double[] sums = new double[params.groups()];
        Arrays.setAll(
                sums,
                g -> Arrays.stream(scores, g * size, (g + 1) * size)
                        .sorted()
                        .skip(Math.max(0, size - 2))
                        .sum());
        List<Integer> experts = new ArrayList<>();
        for (int group :
                best(sums, IntStream.range(0, sums.length).boxed().toList()).subList(0, params.groupsUsed())) {
            IntStream.range(group * size, (group + 1) * size).forEach(experts::add);
        }
        return experts;
    }

    /// Indexes in the order of their scores, the highest first, of equal ones the first.
    private static List<Integer> best(double[] scores, List<Integer> indexes) {
        return indexes.stream()
                .sorted(Comparator.<Integer>comparingDouble(i -> -scores[i]).thenComparingInt(i -> i))
                .toList();
    }

    /// {@return the products with the matrices of the chosen experts, one after the other}
    private static double[] linear(ExpertOp.ExpertLinear op, double[] x, double[] chosen, DecodedWeights weights) {
        int rows = op.weight().rows();
        int cols = op.weight().cols();
        double[] out = new double[op.out().width()];
        for (int k = 0; k < chosen.length; k++) {
            int expert = (int) chosen[k];
            Matrix weight = weights.matrix(op.weight(), expert);
            double[] bias = op.bias().map(b -> weights.row(b, expert)).orElseGet(() -> new double[rows]);
            int from = op.ownInputs() ? k * cols : 0;
            for (int r = 0; r < rows; r++) {
                double sum = bias[r];
                for (int c = 0; c < cols; c++) {
                    sum += weight.at(r, c) * x[from + c];
                }
                out[k * rows + r] = sum;
            }
        }
        return out;
    }

    /// {@return the sum of the parts of a row, each times its share}
    private static double[] weightedSum(double[] x, double[] shares) {
        double[] out = new double[x.length / shares.length];
        for (int k = 0; k < shares.length; k++) {
            for (int i = 0; i < out.length; i++) {
                out[i] += shares[k] * x[k * out.length + i];
            }
        }
        return out;
    }
}
