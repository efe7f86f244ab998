package dev.tenon.models.deepseek;

import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.Value;
import java.util.Arrays;
import java.util.List;

/// Weighs experts that a table gives a token, by the roots of the softplus of their logits: divided by their sum
/// where wanted, and times a factor.
///
/// @param logits `[T, experts]`
/// @param given `[T, used]`, numbers of experts
/// @param params whether shares are divided by their sum, and the factor
/// @param chosen `[T, used]`, the same numbers; in place of one that no expert has, that of the first or the last
/// @param shares `[T, used]`
record GivenExperts(Value logits, Value given, RouterParams params, Value chosen, Value shares) implements ReferenceOp {
    static final String KIND = "deepseek.given_experts";

    /// Checks the widths.
    GivenExperts {
        if (given.width() != chosen.width() || given.width() != shares.width()) {
            throw new IllegalArgumentException(
                    "op " + KIND + " -> " + chosen + ", " + shares + " has " + given + "; expected the same width");
        }
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public List<Value> inputs() {
        return List.of(logits, given);
    }

    @Override
    public List<Value> outputs() {
        return List.of(chosen, shares);
    }

    @Override
    public double[][] evaluate(double[][] inputs, float[][] weights) {
        double[] experts = Arrays.stream(inputs[1])
                .map(e -> Math.clamp(e, 0, logits.width() - 1))
                .toArray();
        double[] p = Arrays.stream(experts).map(e -> root(inputs[0][(int) e])).toArray();
        double sum = params.normalise()
                ? Math.max(RouterParams.LEAST_SUM, Arrays.stream(p).sum())
                : 1;
        return new double[][] {
            experts, Arrays.stream(p).map(share -> share / sum * params.scale()).toArray()
        };
    }

    private static double root(double logit) {
        return Math.sqrt(Math.max(logit, 0) + Math.log1p(Math.exp(-Math.abs(logit))));
    }
}
