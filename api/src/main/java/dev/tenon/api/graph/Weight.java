package dev.tenon.api.graph;

import java.util.Objects;

/// A tensor of the model file that a graph needs: a matrix of `rows` rows of `cols` elements, or a vector
/// (`rows` =
/// 1).
///
/// @param name tensor name in the GGUF file, such as `blk.0.attn_q.weight`
/// @param cols elements in a row (GGUF's first, fastest dimension)
/// @param rows number of rows
public record Weight(String name, int cols, int rows) {
    /// Checks the shape.
    public Weight {
        Objects.requireNonNull(name, "name");
        if (cols < 1 || rows < 1) {
            throw new IllegalArgumentException("weight " + name + " has shape [" + cols + ", " + rows + "]");
        }
    }

    /// {@return a vector weight}
    ///
    /// @param name tensor name
    /// @param length elements
    public static Weight vector(String name, int length) {
        return new Weight(name, length, 1);
    }
}
