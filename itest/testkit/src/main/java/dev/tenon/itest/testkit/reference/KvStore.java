package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.Op;

/// Where keys, values and states of one sequence are kept, and rows are that come with its tokens.
public interface KvStore {
    /// Keeps the key and value rows of a position.
    ///
    /// @param layer KV cache layer
    /// @param position 0-based
    /// @param key `[headCountKv * keyLength]`
    /// @param value `[headCountKv * valueLength]`
    void put(int layer, int position, double[] key, double[] value);

    /// {@return the key row of a position}
    ///
    /// @param layer KV cache layer
    /// @param position 0-based, at most the one put last
    double[] key(int layer, int position);

    /// {@return the state of an op after all tokens so far, zero before position 0; changed in place}
    ///
    /// @param op the op
    /// @throws UnsupportedOperationException if no states are kept here
    default double[] state(Op op) {
        throw new UnsupportedOperationException("no state is kept for op " + op.kind());
    }

    /// {@return the factor on what an adapter adds for the sequence; 0 if it does not use the adapter}
    ///
    /// @param adapter which adapter of the graph
    default float adapterScale(int adapter) {
        return 0;
    }

    /// {@return the row that comes with the token at a position; null for zeros}
    ///
    /// @param position one of the step
    default float[] given(int position) {
        return null;
    }

    /// {@return where the token at a position stands on an axis}
    ///
    /// @param position one of the step
    /// @param axis which one, 0-based
    default int coordinate(int position, int axis) {
        return axis < 3 ? position : 0;
    }

    /// {@return the first and the last position of a token's span}
    ///
    /// @param position one of the step
    default int[] span(int position) {
        return new int[] {position, position};
    }

    /// {@return the value row of a position}
    ///
    /// @param layer KV cache layer
    /// @param position 0-based, at most the one put last
    double[] value(int layer, int position);
}
