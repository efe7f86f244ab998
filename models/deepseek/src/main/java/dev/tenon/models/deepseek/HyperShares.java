package dev.tenon.models.deepseek;

import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.Arrays;
import java.util.List;

/// Makes shares of hyper-connections of their logits (Xie et al. 2025). With `n` streams a row has `n` logits of what
/// a mixer reads of each stream, `n` of what each gets of its result, and `n * n` of what each gets of each, by the
/// stream that gives; or only the first `n`.
///
/// Each kind is multiplied by a number and added to its base. The first become `sigmoid + eps`, the second
/// `2 sigmoid`. The matrix becomes, by Sinkhorn and Knopp (1967), one whose rows and columns sum to 1: a softmax over
/// what a stream gives, plus eps, then sums over what a stream gets and what it gives are divided out in turn.
///
/// @param x `[T, n]` or `[T, 2 n + n n]`
/// @param scale `[1]` or `[3]`, of each kind
/// @param base as wide as `x`
/// @param streams `n`
/// @param iterations how often sums of both kinds are divided out
/// @param eps added to shares and sums
/// @param out as wide as `x`: what is read of each stream; then for each stream what it gets of all, and of the result
record HyperShares(Value x, Weight scale, Weight base, int streams, int iterations, float eps, Value out)
        implements ReferenceOp {
    static final String KIND = "deepseek.hyper_shares";

    /// Checks the widths.
    HyperShares {
        boolean reads = x.width() == streams && scale.elements() == 1;
        boolean all = x.width() == streams * (streams + 2) && scale.elements() == 3;
        if (!reads && !all || base.elements() != x.width() || out.width() != x.width()) {
            throw new IllegalArgumentException("op " + KIND + " -> " + out + " of " + streams + " streams has x " + x
                    + ", scale " + scale + " and base " + base + ", which do not fit together");
        }
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public List<Value> inputs() {
        return List.of(x);
    }

    @Override
    public List<Value> outputs() {
        return List.of(out);
    }

    @Override
    public List<Weight> weights() {
        return List.of(scale, base);
    }

    @Override
    public double[][] evaluate(double[][] inputs, float[][] weights) {
        int n = streams;
        double[] logits = new double[x.width()];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = inputs[0][i] * weights[0][Math.min(i / n, 2)] + weights[1][i];
        }
        double[] row = new double[out.width()];
        for (int j = 0; j < n; j++) {
            row[j] = sigmoid(logits[j]) + eps;
        }
        if (row.length > n) {
            double[][] given = balanced(logits);
            for (int to = 0; to < n; to++) {
                int at = n + to * (n + 1);
                for (int from = 0; from < n; from++) {
                    row[at + from] = given[from][to];
                }
                row[at + n] = 2 * sigmoid(logits[n + to]);
            }
        }
        return new double[][] {row};
    }

    private double[][] balanced(double[] logits) {
        double[][] given = new double[streams][];
        for (int from = 0; from < streams; from++) {
            int at = (2 + from) * streams;
            double[] part = Arrays.copyOfRange(logits, at, at + streams);
            double most = Arrays.stream(part).max().orElseThrow();
            double sum = Arrays.stream(part).map(l -> Math.exp(l - most)).sum();
            given[from] =
                    Arrays.stream(part).map(l -> Math.exp(l - most) / sum + eps).toArray();
        }
        divideGot(given);
        for (int i = 1; i < iterations; i++) {
            for (double[] part : given) {
                double sum = Arrays.stream(part).sum() + eps;
                Arrays.setAll(part, to -> part[to] / sum);
            }
            divideGot(given);
        }
        return given;
    }

    private void divideGot(double[][] given) {
        for (int to = 0; to < streams; to++) {
            double sum = eps;
            for (double[] part : given) {
                sum += part[to];
            }
            for (double[] part : given) {
                part[to] /= sum;
            }
        }
    }

    private static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }
}
