package dev.tenon.api.graph;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Ops on parts of a row, such as heads or groups of them. More of them may come.
public interface PartOp extends Op {
    /// {@return the value it defines}
    Value out();

    @Override
    default List<Value> outputs() {
        return List.of(out());
    }

    /// Keeps the same part of each group of a row: `out[t, g * length + i] = x[t, g * group + from + i]` with
    /// `i` from 0 to `length - 1`, such as the queries of heads that hold a query and a gate.
    ///
    /// @param x `[T, groups * group]`
    /// @param groups how many groups a row has
    /// @param from first element of a group that is kept
    /// @param out `[T, groups * length]`
    record Slice(Value x, int groups, int from, Value out) implements PartOp {
        /// Checks the widths.
        public Slice {
            boolean fits = groups > 0
                    && x.width() % groups == 0
                    && out.width() % groups == 0
                    && from >= 0
                    && from + (long) out.width() / groups <= x.width() / groups;
            Shapes.check(fits, "slice", "keeps elements from " + from + " of " + groups + " groups of " + x, out);
        }

        /// {@return elements of a group that are kept}
        public int length() {
            return out.width() / groups;
        }

        @Override
        public String kind() {
            return "slice";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }
    }

    /// Root-mean-square norm over groups of a row, each with a weight of its own: group `g` is normed as by
    /// [CoreOp.RmsNorm] with row `g` of the weight.
    ///
    /// @param x `[T, groups * length]`
    /// @param weight `[groups, length]`
    /// @param eps added to the mean square
    /// @param out `[T, groups * length]`
    record GroupedRmsNorm(Value x, Weight weight, float eps, Value out) implements PartOp {
        /// Checks the widths.
        public GroupedRmsNorm {
            Shapes.groupedNorm("grouped_rms_norm", x, weight, eps, out);
        }

        @Override
        public String kind() {
            return "grouped_rms_norm";
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

    /// Layer norm over groups of a row, each with a weight of its own: group `g` is normed as by
    /// [CoreOp.LayerNorm] with row `g` of the weight, without a bias.
    ///
    /// @param x `[T, groups * length]`
    /// @param weight `[groups, length]`
    /// @param eps added to the variance
    /// @param out `[T, groups * length]`
    record GroupedLayerNorm(Value x, Weight weight, float eps, Value out) implements PartOp {
        /// Checks the widths.
        public GroupedLayerNorm {
            Shapes.groupedNorm("grouped_layer_norm", x, weight, eps, out);
        }

        @Override
        public String kind() {
            return "grouped_layer_norm";
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

    /// Puts groups of two values next to each other: group `g` of the result is group `g` of `a`, then group `g` of
    /// `b`, such as heads of a part that is rotated and one that is not.
    ///
    /// @param a `[T, groups * n]`
    /// @param b `[T, groups * m]`
    /// @param groups how many groups a row has
    /// @param out `[T, groups * (n + m)]`
    record Join(Value a, Value b, int groups, Value out) implements PartOp {
        /// Checks the widths.
        public Join {
            boolean fits = groups > 0
                    && a.width() % groups == 0
                    && b.width() % groups == 0
                    && out.width() == (long) a.width() + b.width();
            Shapes.check(fits, "join", "of " + groups + " groups does not fit " + a + " and " + b, out);
        }

        @Override
        public String kind() {
            return "join";
        }

        @Override
        public List<Value> inputs() {
            return List.of(a, b);
        }
    }

    /// Multiplies each head of a row by a matrix of its own: `out[t, h * rows + r] = sum_c weight[h, r, c] *
    /// x[t, h * cols + c]`.
    ///
    /// @param x `[T, heads * cols]`
    /// @param weight `[heads, rows, cols]`
    /// @param out `[T, heads * rows]`
    record HeadLinear(Value x, Weight weight, Value out) implements PartOp {
        /// Checks the shapes.
        public HeadLinear {
            boolean fits = x.width() == (long) weight.slices() * weight.cols()
                    && out.width() == (long) weight.slices() * weight.rows();
            Shapes.check(fits, "head_linear", "has weight " + weight + ", which does not fit its input " + x, out);
        }

        /// {@return the number of heads}
        public int heads() {
            return weight.slices();
        }

        @Override
        public String kind() {
            return "head_linear";
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

    /// Root-mean-square norm over groups of a row, without a weight: `out = x / sqrt(mean(x^2) + eps)`.
    ///
    /// @param x `[T, groups * length]`
    /// @param groups how many groups a row has
    /// @param eps added to the mean square
    /// @param out `[T, groups * length]`
    record PlainRmsNorm(Value x, int groups, float eps, Value out) implements PartOp {
        /// Checks the widths.
        public PlainRmsNorm {
            Shapes.sameWidth("plain_rms_norm", out, x);
            boolean fits = groups > 0 && x.width() % groups == 0 && eps >= 0;
            Shapes.check(fits, "plain_rms_norm", "has " + groups + " groups and eps " + eps + " for " + x, out);
        }

        /// {@return elements of a group}
        public int length() {
            return x.width() / groups;
        }

        @Override
        public String kind() {
            return "plain_rms_norm";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }
    }

    /// Gives each element of a row the mean of its group: what a norm subtracts, a sum over a head, or, of products
    /// with a norm, the length of a row.
    ///
    /// @param x `[T, groups * length]`
    /// @param groups how many groups a row has
    /// @param out `[T, groups * length]`
    record GroupMean(Value x, int groups, Value out) implements PartOp {
        /// Checks the widths.
        public GroupMean {
            Shapes.sameWidth("group_mean", out, x);
            Shapes.check(
                    groups > 0 && x.width() % groups == 0, "group_mean", "has " + groups + " groups for " + x, out);
        }

        /// {@return elements of a group}
        public int length() {
            return x.width() / groups;
        }

        @Override
        public String kind() {
            return "group_mean";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }
    }

    /// Writes the groups of a row across: `out[t, i * groups + g] = x[t, g * length + i]`.
    ///
    /// @param x `[T, groups * length]`
    /// @param groups how many groups a row has
    /// @param out `[T, length * groups]`
    record Transpose(Value x, int groups, Value out) implements PartOp {
        /// Checks the widths.
        public Transpose {
            Shapes.sameWidth("transpose", out, x);
            Shapes.check(groups > 0 && x.width() % groups == 0, "transpose", "has " + groups + " groups for " + x, out);
        }

        /// {@return elements of a group}
        public int length() {
            return x.width() / groups;
        }

        @Override
        public String kind() {
            return "transpose";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }
    }

    /// Multiplies by a matrix that is stored the other way round: `out[t, c] = sum_r x[t, r] * weight[r, c]`.
    ///
    /// @param x `[T, rows]`
    /// @param weight `[rows, cols]`
    /// @param out `[T, cols]`
    record TransposedLinear(Value x, Weight weight, Value out) implements PartOp {
        /// Checks the shapes.
        public TransposedLinear {
            boolean fits = weight.slices() == 1 && x.width() == weight.rows() && out.width() == weight.cols();
            Shapes.check(
                    fits, "transposed_linear", "has weight " + weight + ", which does not fit its input " + x, out);
        }

        @Override
        public String kind() {
            return "transposed_linear";
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

    /// Keeps elements between two numbers of the file: `out = min(max(x, least), most)`.
    ///
    /// @param x `[T, width]`
    /// @param least `[1]`, or empty where there is none
    /// @param most `[1]`, or empty where there is none
    /// @param out `[T, width]`
    record Clamp(Value x, Optional<Weight> least, Optional<Weight> most, Value out) implements PartOp {
        /// Checks the shapes.
        public Clamp {
            Shapes.sameWidth("clamp", out, x);
            boolean numbers = Stream.concat(least.stream(), most.stream())
                    .allMatch(limit -> limit.isVector() && limit.cols() == 1);
            Shapes.check(numbers, "clamp", "has limits " + least + " and " + most + ", which are not one number", out);
        }

        @Override
        public String kind() {
            return "clamp";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }

        @Override
        public List<Weight> weights() {
            return Stream.concat(least.stream(), most.stream()).toList();
        }
    }

    /// The activation xIELU (Huang and Schlag 2024): `out = alphaP x^2 + beta x` where `x` is above 0, and
    /// `alphaN (exp(min(x, eps)) - 1 - x) + beta x` elsewhere.
    ///
    /// @param x `[T, width]`
    /// @param alphaP how fast it grows above 0
    /// @param alphaN how fast it bends below 0
    /// @param beta slope at 0
    /// @param eps most that is exponentiated, such as -1e-6
    /// @param out `[T, width]`
    record Xielu(Value x, float alphaP, float alphaN, float beta, float eps, Value out) implements PartOp {
        /// Checks widths and numbers.
        public Xielu {
            Shapes.sameWidth("xielu", out, x);
            boolean finite = Float.isFinite(alphaP + alphaN + beta + eps);
            Shapes.check(
                    finite,
                    "xielu",
                    "has " + alphaP + ", " + alphaN + ", " + beta + " and " + eps + "; expected finite numbers",
                    out);
        }

        @Override
        public String kind() {
            return "xielu";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }
    }
}
