package dev.tenon.api.graph;

import java.util.List;
import java.util.Optional;

/// The ops that every backend runs. All activations are float32 rows, one row a token: `x[t, i]`.
///
/// Records here only describe; backends implement. `T` is the number of rows in a step.
public final class CoreOp {
    private CoreOp() {}

    private static List<Weight> list(Weight first, Optional<Weight> second) {
        return second.isPresent() ? List.of(first, second.get()) : List.of(first);
    }

    /// Looks up the row of each token of the step: `out[t] = table[token[t]]`.
    ///
    /// @param table `[nVocab, width]`
    /// @param out `[T, width]`
    public record Embedding(Weight table, Value out) implements Op {
        @Override
        public String kind() {
            return "embedding";
        }

        @Override
        public List<Value> inputs() {
            return List.of();
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }

        @Override
        public List<Weight> weights() {
            return List.of(table);
        }
    }

    /// Root-mean-square norm over groups of a row: `out = x / sqrt(mean(x^2) + eps) * weight`.
    ///
    /// A group is as long as the weight: the whole row for the usual norm, one head for QK-norm.
    ///
    /// @param x `[T, width]`
    /// @param weight `[group]`; `width` is a multiple of it
    /// @param eps added to the mean square
    /// @param out `[T, width]`
    public record RmsNorm(Value x, Weight weight, float eps, Value out) implements Op {
        /// Checks the widths.
        public RmsNorm {
            if (x.width() != out.width() || x.width() % weight.cols() != 0 || weight.rows() != 1) {
                throw new IllegalArgumentException("norm " + weight + " does not fit " + x + " -> " + out);
            }
        }

        @Override
        public String kind() {
            return "rms_norm";
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
            return List.of(weight);
        }
    }

    /// Multiplies by a weight matrix: `out[t, r] = sum_c weight[r, c] * x[t, c] (+ bias[r])`.
    ///
    /// @param x `[T, cols]`
    /// @param weight `[rows, cols]`
    /// @param bias `[rows]` or empty
    /// @param out `[T, rows]`
    public record Linear(Value x, Weight weight, Optional<Weight> bias, Value out) implements Op {
        /// Checks the shapes.
        public Linear {
            if (x.width() != weight.cols() || out.width() != weight.rows()) {
                throw new IllegalArgumentException("weight " + weight + " does not fit " + x + " -> " + out);
            }
        }

        @Override
        public String kind() {
            return "linear";
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
            return list(weight, bias);
        }
    }

    /// Rotates the heads of each row by the token's position.
    ///
    /// @param x `[T, heads * headDim]`
    /// @param params how
    /// @param out same shape
    public record Rope(Value x, RopeParams params, Value out) implements Op {
        /// Checks the widths.
        public Rope {
            if (x.width() != out.width() || x.width() % params.headDim() != 0) {
                throw new IllegalArgumentException("heads of " + params.headDim() + " do not fit " + x + " -> " + out);
            }
        }

        @Override
        public String kind() {
            return "rope";
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
            return params.freqFactors().map(List::of).orElse(List.of());
        }
    }

    /// Appends this step's keys and values to the KV cache of a layer, then attends causally within each
    /// sequence.
    ///
    /// `out[t, h] = sum_p softmax_p(scale * q[t, h] . k[p, g]) * v[p, g]` over the positions `p` of the
    /// token's
    /// sequence
    /// from `position[t] - slidingWindow + 1` (0 without a window) to `position[t]`, where `g = h /
    /// (headCount /
    /// headCountKv)`. With a soft cap `c`, a score `s` becomes `c * tanh(s / c)` before the softmax.
    ///
    /// @param q `[T, headCount * keyLength]`
    /// @param k `[T, headCountKv * keyLength]`
    /// @param v `[T, headCountKv * valueLength]`
    /// @param layer index of the KV cache layer, 0-based
    /// @param headCount query heads, a multiple of `headCountKv`
    /// @param headCountKv key and value heads
    /// @param scale factor on scores, usually `1 / sqrt(keyLength)`
    /// @param slidingWindow how many positions back a token sees, itself included; 0 sees all
    /// @param softCap cap on scores; 0 for none
    /// @param out `[T, headCount * valueLength]`
    public record Attention(
            Value q,
            Value k,
            Value v,
            int layer,
            int headCount,
            int headCountKv,
            float scale,
            int slidingWindow,
            float softCap,
            Value out)
            implements Op {
        /// Checks the widths.
        public Attention {
            if (headCount % headCountKv != 0
                    || q.width() % headCount != 0
                    || k.width() != q.width() / headCount * headCountKv
                    || v.width() % headCountKv != 0
                    || out.width() != v.width() / headCountKv * headCount) {
                throw new IllegalArgumentException("attention of " + headCount + "/" + headCountKv
                        + " heads does not fit " + q + ", " + k + ", " + v + " -> " + out);
            }
        }

        /// {@return elements of a key head}
        public int keyLength() {
            return q.width() / headCount;
        }

        /// {@return elements of a value head}
        public int valueLength() {
            return v.width() / headCountKv;
        }

        @Override
        public String kind() {
            return "attention";
        }

        @Override
        public List<Value> inputs() {
            return List.of(q, k, v);
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }

        @Override
        public List<Weight> weights() {
            return List.of();
        }
    }

    /// `out = a + b`, element by element.
    ///
    /// @param a `[T, width]`
    /// @param b `[T, width]`
    /// @param out `[T, width]`
    public record Add(Value a, Value b, Value out) implements Op {
        @Override
        public String kind() {
            return "add";
        }

        @Override
        public List<Value> inputs() {
            return List.of(a, b);
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }

        @Override
        public List<Weight> weights() {
            return List.of();
        }
    }

    /// `out = a * b`, element by element.
    ///
    /// @param a `[T, width]`
    /// @param b `[T, width]`
    /// @param out `[T, width]`
    public record Multiply(Value a, Value b, Value out) implements Op {
        @Override
        public String kind() {
            return "multiply";
        }

        @Override
        public List<Value> inputs() {
            return List.of(a, b);
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }

        @Override
        public List<Weight> weights() {
            return List.of();
        }
    }

    /// `out = activation(x)`, element by element.
    ///
    /// @param x `[T, width]`
    /// @param activation the function
    /// @param out `[T, width]`
    public record Activate(Value x, Activation activation, Value out) implements Op {
        @Override
        public String kind() {
            return "activate";
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
            return List.of();
        }
    }

    /// `out = factor * x`.
    ///
    /// @param x `[T, width]`
    /// @param factor the factor
    /// @param out `[T, width]`
    public record Scale(Value x, float factor, Value out) implements Op {
        @Override
        public String kind() {
            return "scale";
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
            return List.of();
        }
    }

    /// `out = cap * tanh(x / cap)`.
    ///
    /// @param x `[T, width]`
    /// @param cap the cap, above 0
    /// @param out `[T, width]`
    public record SoftCap(Value x, float cap, Value out) implements Op {
        @Override
        public String kind() {
            return "soft_cap";
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
            return List.of();
        }
    }

    /// Keeps only the rows whose logits are wanted in this step, in their order: `[T, width]` becomes `[L,
    /// width]`.
    ///
    /// Everything after it works on `L` rows. Without a row that wants logits, the rest of the graph is
    /// skipped.
    ///
    /// @param x `[T, width]`
    /// @param out `[L, width]`
    public record SelectRows(Value x, Value out) implements Op {
        @Override
        public String kind() {
            return "select_rows";
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
            return List.of();
        }
    }
}
