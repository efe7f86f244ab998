package dev.tenon.api.graph;

import java.util.Objects;

/// An activation in a graph: float32, `[nTokens, width]`, the last index fastest. The number of rows is
/// known only when a step runs.
///
/// @param id unique in its graph, 0-based
/// @param name what diagnostics call it, such as `blk.0.q`
/// @param width elements in a row
public record Value(int id, String name, int width) {
    /// Checks the width.
    public Value {
        Objects.requireNonNull(name, "name");
        if (id < 0 || width < 1) {
            throw new IllegalArgumentException("value " + name + " has id " + id + " and width " + width);
        }
    }

    /// {@return name and width, such as `blk.0.q [64]`}
    @Override
    public String toString() {
        return name + " [" + width + "]";
    }
}
