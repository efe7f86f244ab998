package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.Weight;

/// Some tokens of one sequence, which the reference computes together. For one thread.
public final class Step {
    final DecodedWeights weights;
    final KvStore kv;
    private final int[] tokens;
    private final int[] positions;

    Step(DecodedWeights weights, KvStore kv, int[] tokens, int[] positions) {
        this.weights = weights;
        this.kv = kv;
        this.tokens = tokens;
        this.positions = positions;
    }

    /// {@return the number of tokens}
    public int count() {
        return tokens.length;
    }

    /// {@return the id of a token}
    ///
    /// @param t which one, 0-based
    public int token(int t) {
        return tokens[t];
    }

    /// {@return the position of a token in its sequence}
    ///
    /// @param t which one, 0-based
    public int position(int t) {
        return positions[t];
    }

    /// {@return the row that comes with a token, or zeros}
    ///
    /// @param t which one, 0-based
    /// @param width elements of the row
    public double[] given(int t, int width) {
        double[] row = new double[width];
        float[] given = kv.given(position(t));
        for (int i = 0; given != null && i < width; i++) {
            row[i] = given[i];
        }
        return row;
    }

    /// {@return a copy of a vector}
    ///
    /// @param weight a weight of one row
    public double[] vector(Weight weight) {
        return weights.vector(weight);
    }
}
