package dev.tenon.api.graph;

import java.util.Optional;

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

    /// Checks that a weight has one element for each of something: a vector, or a column of as many rows.
    ///
    /// @param kind kind of the op
    /// @param weight the weight
    /// @param count expected elements
    /// @param out the op's result
    static void elements(String kind, Weight weight, int count, Value out) {
        check(
                weight.elements() == count && (weight.isVector() || weight.cols() == 1),
                kind,
                "reads weight " + weight + "; expected " + count + " elements",
                out);
    }

    /// Checks a table of rows.
    ///
    /// @param kind kind of the op
    /// @param table the weight
    /// @param out the op's result
    static void lookUp(String kind, Weight table, Value out) {
        check(
                table.slices() == 1 && table.cols() == out.width(),
                kind,
                "reads weight " + table + ", whose rows are not as wide as its result",
                out);
    }

    /// Checks a norm over groups as long as its weight.
    ///
    /// @param kind kind of the op
    /// @param x what is normed
    /// @param weight the weight
    /// @param eps added to the mean square or variance
    /// @param out the op's result
    static void norm(String kind, Value x, Weight weight, float eps, Value out) {
        sameWidth(kind, out, x);
        boolean groups = weight.isVector() && out.width() % weight.cols() == 0;
        check(groups, kind, "reads weight " + weight + "; expected a vector that divides the width", out);
        eps(kind, eps, out);
    }

    /// Checks a norm over groups that have a row of the weight each.
    ///
    /// @param kind kind of the op
    /// @param x what is normed
    /// @param weight the weight
    /// @param eps added to the mean square or variance
    /// @param out the op's result
    static void groupedNorm(String kind, Value x, Weight weight, float eps, Value out) {
        sameWidth(kind, out, x);
        boolean rows = weight.slices() == 1 && weight.elements() == out.width();
        check(rows, kind, "reads weight " + weight + "; expected a row for each group of the width", out);
        eps(kind, eps, out);
    }

    /// Checks a convolution of each channel by itself.
    ///
    /// @param kind kind of the op
    /// @param x its input
    /// @param weight a row of taps for each channel
    /// @param bias of the channels, or empty
    /// @param out the op's result
    static void convolution(String kind, Value x, Weight weight, Optional<Weight> bias, Value out) {
        sameWidth(kind, out, x);
        boolean rows = weight.slices() == 1 && weight.rows() == out.width();
        check(rows, kind, "reads weight " + weight + "; expected a row for each of its channels", out);
        bias.ifPresent(b -> vector(kind, b, out.width(), out));
    }

    /// Checks what is added to a mean square or variance.
    ///
    /// @param kind kind of the op
    /// @param eps the number
    /// @param out the op's result
    static void eps(String kind, float eps, Value out) {
        check(eps >= 0, kind, "has eps " + eps + "; expected at least 0", out);
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
