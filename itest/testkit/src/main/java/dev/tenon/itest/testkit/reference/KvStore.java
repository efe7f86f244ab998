package dev.tenon.itest.testkit.reference;

/// Where keys and values of one sequence are kept.
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

    /// {@return the value row of a position}
    ///
    /// @param layer KV cache layer
    /// @param position 0-based, at most the one put last
    double[] value(int layer, int position);
}
