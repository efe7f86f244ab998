package dev.tenon.api.graph;

/// Refuses ops whose values and weights do not fit together.
final class Shapes {
    private Shapes() {}

    /// Checks that values have rows of one width.
    ///
    /// @param kind kind of the op
    /// @param out its result
    /// @param inputs what must be as wide
    static void sameWidth(String kind, Value out, Value... inputs) {
        for (Value input : inputs) {
            check(input.width() == out.width(), kind, "reads " + input + ", which is not as wide as its result", out);
        }
    }

    /// Checks that a weight is one vector.
    ///
    /// @param kind kind of the op
    /// @param weight the weight
    /// @param length expected elements
    /// @param out the op's result
    static void vector(String kind, Weight weight, int length, Value out) {
        check(
                weight.isVector() && weight.cols() == length,
                kind,
                "reads weight " + weight + "; expected a vector of " + length,
                out);
    }

    /// Refuses an op.
    ///
    /// @param fits whether it is right
    /// @param kind kind of the op
    /// @param problem what is wrong
    /// @param out the op's result
    static void check(boolean fits, String kind, String problem, Value out) {
        if (!fits) {
            throw new IllegalArgumentException("op " + kind + " -> " + out + " " + problem);
        }
    }
}
