package dev.tenon.api.graph;

import java.util.List;
import java.util.Optional;

/// The ops of mixtures of experts (Shazeer et al. 2017): a router chooses some experts for each token, which
/// then works with the matrices of those only.
///
/// A feed-forward layer of experts is a [CoreOp.Linear] for the logits, a [Router], [ExpertLinear]s with
/// activations between them, and a [WeightedSum]. Shared experts are core ops beside it; one with a gate is
/// a [WeightedSum] with a single weight.
public sealed interface ExpertOp extends Op {
    /// Chooses the experts of each token.
    ///
    /// @param logits `[T, experts]`
    /// @param params how
    /// @param chosen `[T, used]`, numbers of experts, the best first, as whole float32 numbers; only
    ///     [ExpertLinear] reads them
    /// @param shares `[T, used]`, the weights of the chosen experts
    record Router(Value logits, RouterParams params, Value chosen, Value shares) implements ExpertOp {
        /// Checks the widths.
        public Router {
            int experts = logits.width();
            Shapes.check(
                    chosen.width() == params.used() && shares.width() == params.used(),
                    "router",
                    "and " + shares + " are not as wide as the number of used experts, " + params.used(),
                    chosen);
            Shapes.check(
                    experts % params.groups() == 0 && params.used() <= experts / params.groups() * params.groupsUsed(),
                    "router",
                    "chooses " + params.used() + " experts in " + params.groupsUsed() + " of " + params.groups()
                            + " groups, which does not fit its logits " + logits,
                    chosen);
            params.bias().ifPresent(b -> Shapes.vector("router", b, experts, chosen));
        }

        @Override
        public String kind() {
            return "router";
        }

        @Override
        public List<Value> inputs() {
            return List.of(logits);
        }

        @Override
        public List<Value> outputs() {
            return List.of(chosen, shares);
        }

        @Override
        public List<Weight> weights() {
            return params.bias().map(List::of).orElse(List.of());
        }
    }

    /// Multiplies by the matrices of a token's experts: `out[t, k * rows + r] = sum_c weight[e, r, c] * x[t, c]
    /// (+ bias[e, r])` with `e = chosen[t, k]`, or `x[t, k * cols + c]` where each expert has an input of its
    /// own.
    ///
    /// @param x `[T, cols]`, or `[T, used * cols]`
    /// @param chosen `[T, used]`, of a [Router]
    /// @param weight `[experts, rows, cols]`
    /// @param bias `[experts, rows]` or empty
    /// @param out `[T, used * rows]`
    record ExpertLinear(Value x, Value chosen, Weight weight, Optional<Weight> bias, Value out) implements ExpertOp {
        /// Checks the shapes.
        public ExpertLinear {
            int used = chosen.width();
            Shapes.check(
                    (x.width() == weight.cols() || x.width() == (long) used * weight.cols())
                            && out.width() == (long) used * weight.rows(),
                    "expert_linear",
                    "of " + used + " experts has weight " + weight + ", which does not fit its input " + x,
                    out);
            bias.ifPresent(b -> Shapes.check(
                    b.slices() == 1 && b.cols() == weight.rows() && b.rows() == weight.slices(),
                    "expert_linear",
                    "has bias " + b + "; expected [" + weight.rows() + ", " + weight.slices() + "]",
                    out));
        }

        /// {@return how many experts a token uses}
        public int used() {
            return chosen.width();
        }

        /// {@return whether each expert has an input of its own}
        public boolean ownInputs() {
            return x.width() != weight.cols();
        }

        @Override
        public String kind() {
            return "expert_linear";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x, chosen);
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }

        @Override
        public List<Weight> weights() {
            return bias.isPresent() ? List.of(weight, bias.get()) : List.of(weight);
        }
    }

    /// Adds up parts of a row with a weight for each: `out[t, i] = sum_k shares[t, k] * x[t, k * width + i]`.
    ///
    /// @param x `[T, used * width]`
    /// @param shares `[T, used]`
    /// @param out `[T, width]`
    record WeightedSum(Value x, Value shares, Value out) implements ExpertOp {
        /// Checks the widths.
        public WeightedSum {
            Shapes.check(
                    x.width() == (long) shares.width() * out.width(),
                    "weighted_sum",
                    "reads " + x + ", which does not consist of " + shares.width() + " such rows",
                    out);
        }

        @Override
        public String kind() {
            return "weighted_sum";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x, shares);
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }
    }
}
