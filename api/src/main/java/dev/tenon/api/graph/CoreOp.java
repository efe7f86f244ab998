package dev.tenon.api.graph;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The ops of usual decoders and encoders. All activations are float32 rows, one row a token: `x[t, i]`.
///
/// Records here only describe; backends implement, and say of each op whether they do. `T` is the number of
/// rows in a step, `L` of those whose logits are wanted. A record refuses values and weights that do not fit
/// together with `IllegalArgumentException`.
public sealed interface CoreOp extends Op {
    /// {@return the value it defines}
    Value out();

    @Override
    default List<Value> outputs() {
        return List.of(out());
    }

    /// An op that reads one value.
    sealed interface Unary extends CoreOp {
        /// {@return the value it reads}
        Value x();

        @Override
        default List<Value> inputs() {
            return List.of(x());
        }
    }

    /// Looks up the row of each token of the step: `out[t] = table[token[t]]`.
    ///
    /// @param table `[vocabularySize, width]`
    /// @param out `[T, width]`
    record Embedding(Weight table, Value out) implements CoreOp {
        /// Checks the widths.
        public Embedding {
            Shapes.lookUp("embedding", table, out);
        }

        @Override
        public String kind() {
            return "embedding";
        }

        @Override
        public List<Weight> weights() {
            return List.of(table);
        }
    }

    /// Looks up the row of each token's position: `out[t] = table[position[t]]`.
    ///
    /// @param table `[nPositions, width]`; later positions are refused when a step runs
    /// @param out `[T, width]`
    record PositionEmbedding(Weight table, Value out) implements CoreOp {
        /// Checks the widths.
        public PositionEmbedding {
            Shapes.lookUp("position_embedding", table, out);
        }

        @Override
        public String kind() {
            return "position_embedding";
        }

        @Override
        public List<Weight> weights() {
            return List.of(table);
        }
    }

    /// Gives every token the same row: `out[t] = row`.
    ///
    /// @param row `[width]`, such as the row of a token type
    /// @param out `[T, width]`
    record Repeat(Weight row, Value out) implements CoreOp {
        /// Checks the widths.
        public Repeat {
            Shapes.vector("repeat", row, out.width(), out);
        }

        @Override
        public String kind() {
            return "repeat";
        }

        @Override
        public List<Weight> weights() {
            return List.of(row);
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
    record RmsNorm(Value x, Weight weight, float eps, Value out) implements Unary {
        /// Checks the widths.
        public RmsNorm {
            Shapes.norm("rms_norm", x, weight, eps, out);
        }

        @Override
        public String kind() {
            return "rms_norm";
        }

        @Override
        public List<Weight> weights() {
            return List.of(weight);
        }
    }

    /// Layer norm (Ba et al. 2016) over groups of a row, which are as long as the weight:
    /// `out = (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * weight (+ bias)`.
    ///
    /// @param x `[T, width]`
    /// @param weight `[group]`; `width` is a multiple of it
    /// @param bias `[group]` or empty
    /// @param eps added to the variance
    /// @param out `[T, width]`
    record LayerNorm(Value x, Weight weight, Optional<Weight> bias, float eps, Value out) implements Unary {
        /// Checks the widths.
        public LayerNorm {
            Shapes.norm("layer_norm", x, weight, eps, out);
            bias.ifPresent(b -> Shapes.vector("layer_norm", b, weight.cols(), out));
        }

        @Override
        public String kind() {
            return "layer_norm";
        }

        @Override
        public List<Weight> weights() {
            return with(weight, bias);
        }
    }

    private static List<Weight> with(Weight first, Optional<Weight> second) {
        return second.isPresent() ? List.of(first, second.get()) : List.of(first);
    }

    /// Multiplies by a weight matrix: `out[t, r] = sum_c weight[r, c] * x[t, c] (+ bias[r])`.
    ///
    /// @param x `[T, cols]`
    /// @param weight `[rows, cols]`
    /// @param bias `[rows]` or empty
    /// @param out `[T, rows]`
    record Linear(Value x, Weight weight, Optional<Weight> bias, Value out) implements Unary {
        /// Checks the shapes.
        public Linear {
            Shapes.check(
                    weight.slices() == 1 && x.width() == weight.cols() && out.width() == weight.rows(),
                    "linear",
                    "has weight " + weight + ", which does not fit its input " + x,
                    out);
            bias.ifPresent(b -> Shapes.vector("linear", b, out.width(), out));
        }

        @Override
        public String kind() {
            return "linear";
        }

        @Override
        public List<Weight> weights() {
            return with(weight, bias);
        }
    }

    /// Rotates the heads of each row by the token's position.
    ///
    /// @param x `[T, heads * headDim]`
    /// @param params how
    /// @param out same shape
    record Rope(Value x, RopeParams params, Value out) implements Unary {
        /// Checks the widths.
        public Rope {
            Shapes.sameWidth("rope", out, x);
            Shapes.check(
                    out.width() % params.headDim() == 0,
                    "rope",
                    "does not consist of heads of " + params.headDim() + " elements",
                    out);
        }

        @Override
        public String kind() {
            return "rope";
        }

        @Override
        public List<Weight> weights() {
            return params.freqFactors().map(List::of).orElse(List.of());
        }
    }

    /// Appends this step's keys and values to the KV cache of a layer, then attends within each sequence.
    ///
    /// `out[t, h] = sum_p softmax_p(scale * q[t, h] . k[p, g]) * v[p, g]` with `g = h / (headCount /
    /// headCountKv)`, over the positions `p` of the token's sequence that the token sees;
    /// [AttentionParams] defines which, and what soft caps and sinks do.
    ///
    /// Several ops may have one layer, where blocks of a model share keys and values: all of them read the same
    /// `k` and `v`, which are appended once, and hold them the same way ([#sharesLayerWith]).
    ///
    /// @param q `[T, headCount * keyLength]`
    /// @param k `[T, headCountKv * keyLength]`
    /// @param v `[T, headCountKv * valueLength]`
    /// @param layer index of the KV cache layer, 0-based
    /// @param params how
    /// @param out `[T, headCount * valueLength]`
    record Attention(Value q, Value k, Value v, int layer, AttentionParams params, Value out) implements CoreOp {
        /// Checks the widths.
        public Attention {
            int headCount = params.headCount();
            int headCountKv = params.headCountKv();
            boolean fits = q.width() % headCount == 0
                    && k.width() == q.width() / headCount * headCountKv
                    && v.width() % headCountKv == 0
                    && out.width() == v.width() / headCountKv * headCount;
            String inputs = headCount + "/" + headCountKv + " heads, which do not fit " + q + ", " + k + ", " + v;
            Shapes.check(fits, "attention", "has " + inputs, out);
            Shapes.check(
                    !params.valuesInKeys() || v.width() <= k.width(),
                    "attention",
                    "has values in its keys, which " + v + " and " + k + " are too long for",
                    out);
            Shapes.check(layer >= 0, "attention", "has layer " + layer + "; expected 0 or more", out);
        }

        /// {@return query heads}
        public int headCount() {
            return params.headCount();
        }

        /// {@return key and value heads}
        public int headCountKv() {
            return params.headCountKv();
        }

        /// {@return elements of a key head}
        public int keyLength() {
            return q.width() / headCount();
        }

        /// {@return elements of a value head}
        public int valueLength() {
            return v.width() / headCountKv();
        }

        /// {@return whether another op of the same layer keeps what this one keeps: the same values, in heads of
        ///     the same number, with values in keys or beside them}
        ///
        /// @param other an op of the same graph
        public boolean sharesLayerWith(Attention other) {
            return layer == other.layer
                    && k.equals(other.k)
                    && v.equals(other.v)
                    && headCountKv() == other.headCountKv()
                    && params.valuesInKeys() == other.params.valuesInKeys();
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
        public List<Weight> weights() {
            return Stream.of(params.sinks(), params.scoreBias().flatMap(ScoreBias::table))
                    .flatMap(Optional::stream)
                    .toList();
        }
    }

    /// `out = a + b`, element by element.
    ///
    /// @param a `[T, width]`
    /// @param b `[T, width]`
    /// @param out `[T, width]`
    record Add(Value a, Value b, Value out) implements CoreOp {
        /// Checks the widths.
        public Add {
            Shapes.sameWidth("add", out, a, b);
        }

        @Override
        public String kind() {
            return "add";
        }

        @Override
        public List<Value> inputs() {
            return List.of(a, b);
        }
    }

    /// `out = a * b`, element by element.
    ///
    /// @param a `[T, width]`
    /// @param b `[T, width]`
    /// @param out `[T, width]`
    record Multiply(Value a, Value b, Value out) implements CoreOp {
        /// Checks the widths.
        public Multiply {
            Shapes.sameWidth("multiply", out, a, b);
        }

        @Override
        public String kind() {
            return "multiply";
        }

        @Override
        public List<Value> inputs() {
            return List.of(a, b);
        }
    }

    /// `out = activation(x)`, element by element.
    ///
    /// @param x `[T, width]`
    /// @param activation the function
    /// @param out `[T, width]`
    record Activate(Value x, Activation activation, Value out) implements Unary {
        /// Checks the widths.
        public Activate {
            Shapes.sameWidth("activate", out, x);
        }

        @Override
        public String kind() {
            return "activate";
        }
    }

    /// The gate of gpt-oss, element by element: `out = a / (1 + exp(-alpha a)) * (b + offset)` with
    /// `a = min(gate, limit)` and `b = max(-limit, min(up, limit))`. With slope 1 and offset 0 it is a
    /// clamped SwiGLU.
    ///
    /// @param gate `[T, width]`
    /// @param up `[T, width]`
    /// @param alpha slope of the sigmoid, 1.702
    /// @param limit where both are clamped, 7
    /// @param offset added to the second, 1
    /// @param out `[T, width]`
    record SwigluOai(Value gate, Value up, float alpha, float limit, float offset, Value out) implements CoreOp {
        /// Checks the widths.
        public SwigluOai {
            Shapes.sameWidth("swiglu_oai", out, gate, up);
            Shapes.check(limit > 0, "swiglu_oai", "has limit " + limit + "; expected more than 0", out);
        }

        /// The gate of gpt-oss.
        ///
        /// @param gate first projections
        /// @param up second projections
        /// @param alpha slope of the sigmoid
        /// @param limit where both are clamped
        /// @param out result
        public SwigluOai(Value gate, Value up, float alpha, float limit, Value out) {
            this(gate, up, alpha, limit, 1, out);
        }

        @Override
        public String kind() {
            return "swiglu_oai";
        }

        @Override
        public List<Value> inputs() {
            return List.of(gate, up);
        }
    }

    /// `out = factor * x`.
    ///
    /// @param x `[T, width]`
    /// @param factor the factor
    /// @param out `[T, width]`
    record Scale(Value x, float factor, Value out) implements Unary {
        /// Checks the widths.
        public Scale {
            Shapes.sameWidth("scale", out, x);
        }

        @Override
        public String kind() {
            return "scale";
        }
    }

    /// `out = cap * tanh(x / cap)`.
    ///
    /// @param x `[T, width]`
    /// @param cap the cap, above 0
    /// @param out `[T, width]`
    record SoftCap(Value x, float cap, Value out) implements Unary {
        /// Checks the widths.
        public SoftCap {
            Shapes.sameWidth("soft_cap", out, x);
            Shapes.check(cap > 0, "soft_cap", "has cap " + cap + "; expected more than 0", out);
        }

        @Override
        public String kind() {
            return "soft_cap";
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
    record SelectRows(Value x, Value out) implements Unary {
        /// Checks the widths.
        public SelectRows {
            Shapes.sameWidth("select_rows", out, x);
        }

        @Override
        public String kind() {
            return "select_rows";
        }
    }

    /// Pools the rows of a sequence: each token whose logits are wanted gets one row made of all rows of its
    /// sequence in this step. [SelectRows] of a sequence's last token is pooling by the last one.
    ///
    /// @param x `[T, width]`
    /// @param pooling how
    /// @param out `[L, width]`
    record Pool(Value x, Pooling pooling, Value out) implements Unary {
        /// Checks the widths.
        public Pool {
            Shapes.sameWidth("pool", out, x);
        }

        @Override
        public String kind() {
            return "pool";
        }
    }
}
