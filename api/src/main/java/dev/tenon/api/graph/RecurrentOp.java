package dev.tenon.api.graph;

import java.util.List;

/// More ops with a state, of which the same holds as of [StateOp], whose list is closed. More of them may come.
public interface RecurrentOp extends Op {
    /// {@return the value it defines}
    Value out();

    /// {@return elements of the state of a sequence}
    long stateFloats();

    @Override
    default List<Value> outputs() {
        return List.of(out());
    }

    /// {@return elements of the state that any op has of a sequence; 0 for an op without a state}
    ///
    /// @param op any op
    static long stateFloats(Op op) {
        return switch (op) {
            case StateOp state -> state.stateFloats();
            case RecurrentOp recurrent -> recurrent.stateFloats();
            default -> 0;
        };
    }

    /// {@return whether an op has a state}
    ///
    /// @param op any op
    static boolean hasState(Op op) {
        return op instanceof StateOp || op instanceof RecurrentOp;
    }

    /// Mixes each row with the one before it, in several ways (RWKV, Peng et al. 2023):
    /// `out[t, n * width + i] = x[t, i] + weight[n, i] * (x[t - 1, i] - x[t, i])`, where `x` is 0
    /// before the sequence begins. The state is the last row of `x`.
    ///
    /// @param x `[T, width]`
    /// @param weight `[ways, width]`
    /// @param out `[T, ways * width]`
    record TokenShift(Value x, Weight weight, Value out) implements RecurrentOp {
        /// Checks the shapes.
        public TokenShift {
            Shapes.check(
                    weight.slices() == 1
                            && weight.cols() == x.width()
                            && out.width() == (long) weight.rows() * x.width(),
                    "token_shift",
                    "has weight " + weight + ", which does not fit its input " + x,
                    out);
        }

        /// {@return how many mixtures a token has}
        public int ways() {
            return weight.rows();
        }

        @Override
        public long stateFloats() {
            return x.width();
        }

        @Override
        public String kind() {
            return "token_shift";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }

        @Override
        public List<Weight> weights() {
            return List.of(weight);
        }
    }

    /// The generalised delta rule of RWKV-7 (Peng et al. 2025). A head has a state `M [S, S]`, keys by
    /// values, zero at first. For each token, with the parts of its head:
    ///
    /// ```
    /// f = M^T remove
    /// M = diag(exp(decay)) M - add f^T + k v^T
    /// out = M^T r
    /// ```
    ///
    /// @param rkv `[T, 3 * heads * S]`: `r`, `k`, `v`, of all heads each
    /// @param decay `[T, heads * S]`, 0 at most
    /// @param remove `[T, heads * S]`, what is taken out of the state
    /// @param add `[T, heads * S]`, where it is taken out
    /// @param heads number of heads
    /// @param out `[T, heads * S]`
    record ReplacementRule(Value rkv, Value decay, Value remove, Value add, int heads, Value out)
            implements RecurrentOp {
        /// Checks the widths.
        public ReplacementRule {
            Shapes.sameWidth("replacement_rule", out, decay, remove, add);
            Shapes.check(
                    heads > 0 && out.width() % heads == 0 && rkv.width() == 3L * out.width(),
                    "replacement_rule",
                    "has " + heads + " heads, which do not fit " + rkv,
                    out);
        }

        /// {@return elements of a head, `S`}
        public int headLength() {
            return out.width() / heads;
        }

        @Override
        public long stateFloats() {
            return (long) out.width() * headLength();
        }

        @Override
        public String kind() {
            return "replacement_rule";
        }

        @Override
        public List<Value> inputs() {
            return List.of(rkv, decay, remove, add);
        }
    }

    /// Makes one row of each run of tokens: a mean of theirs, weighed for each channel by a softmax (DeepSeek-AI
    /// 2026). With `run = bias.rows`, the row of position `run * c + run - 1` is
    ///
    /// ```
    /// out[i] = sum_s w_s x[s, i] / sum_s w_s       w_s = exp(scores[s, i] + bias[s mod run, i])
    /// ```
    ///
    /// over the positions `s` of run `c`, and 0 elsewhere. Where `x` is twice as wide as `out`, runs overlap:
    /// positions of run `c - 1`, if there is one, take part with their first `width` channels, those of run `c`
    /// with their last.
    ///
    /// @param x `[T, width]`, or `[T, 2 * width]`
    /// @param scores as wide as `x`
    /// @param bias `[run, width of x]`
    /// @param out `[T, width]`
    record RunMean(Value x, Value scores, Weight bias, Value out) implements RecurrentOp {
        /// Checks the shapes.
        public RunMean {
            boolean fits = (x.width() == out.width() || x.width() == 2L * out.width())
                    && scores.width() == x.width()
                    && bias.slices() == 1
                    && bias.cols() == x.width();
            Shapes.check(fits, "run_mean", "has bias " + bias + ", which does not fit " + x + " and " + scores, out);
        }

        /// {@return positions of a run}
        public int run() {
            return bias.rows();
        }

        /// {@return whether a row is made of the run before, too}
        public boolean overlaps() {
            return x.width() != out.width();
        }

        /// Highest score, sum of weights and weighted sum of each channel of a run; with overlap two of the run, and
        /// one of the run before.
        @Override
        public long stateFloats() {
            return 3L * (overlaps() ? 3 : 1) * out.width();
        }

        @Override
        public String kind() {
            return "run_mean";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x, scores);
        }

        @Override
        public List<Weight> weights() {
            return List.of(bias);
        }
    }
}
