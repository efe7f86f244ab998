package dev.tenon.api.graph;

import java.util.List;

/// Chooses the positions that attention is then limited to, by keys of its own (DeepSeek-AI 2025, the lightning
/// indexer): those with the highest scores
///
/// ```
/// score[t, p] = sum_j shares[t, j] * max(0, q[t, j] . k[p])
/// ```
///
/// of the positions up to the token's, its own among them; the first of equals. Keys are appended to a layer of the
/// KV cache that nothing else has ([#cache()]). With runs, only last positions of whole ones are chosen, at which `k`
/// stands for the run.
///
/// @param q `[T, heads * keyLength]`
/// @param shares `[T, heads]`, of any sign
/// @param k `[T, keyLength]`
/// @param layer index of the KV cache layer, 0-based
/// @param run positions of a run; 1 without runs
/// @param out `[T, count]`: positions in ascending order, whole numbers; behind them -1 where a token sees fewer
public record SelectPositions(Value q, Value shares, Value k, int layer, int run, Value out) implements Op {
    /// In place of a position that there is not.
    public static final int NONE = -1;

    /// Checks the widths.
    public SelectPositions {
        Shapes.check(
                q.width() == (long) shares.width() * k.width(),
                "select_positions",
                "has " + shares + " heads, which do not fit " + q + " and " + k,
                out);
        Shapes.check(layer >= 0, "select_positions", "has layer " + layer + "; expected 0 or more", out);
        Shapes.check(run >= 1, "select_positions", "has runs of " + run + "; expected 1 or more", out);
    }

    /// Chooses any positions.
    ///
    /// @param q queries
    /// @param shares of heads
    /// @param k keys
    /// @param layer index of the KV cache layer
    /// @param out positions
    public SelectPositions(Value q, Value shares, Value k, int layer, Value out) {
        this(q, shares, k, layer, 1, out);
    }

    /// {@return how many positions a token gets, at most}
    public int count() {
        return out.width();
    }

    /// {@return number of heads that score}
    public int heads() {
        return shares.width();
    }

    /// {@return what the KV cache keeps, as the attention op that would keep the same: one key head, no values}
    public CoreOp.Attention cache() {
        AttentionParams params =
                AttentionParams.builder(heads(), 1, 1).valuesInKeys(true).build();
        return new CoreOp.Attention(q, k, k, layer, params, new Value(out.id(), out.name(), q.width()));
    }

    @Override
    public String kind() {
        return "select_positions";
    }

    @Override
    public List<Value> inputs() {
        return List.of(q, shares, k);
    }

    @Override
    public List<Value> outputs() {
        return List.of(out);
    }
}
