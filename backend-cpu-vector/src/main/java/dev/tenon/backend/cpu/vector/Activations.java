package dev.tenon.backend.cpu.vector;

/// The array of one or more values of a graph whose lives do not overlap, `[rows, width]`.
final class Activations {
    /// Elements in a row.
    final int width;
    /// Whether rows are those that want logits, instead of all tokens.
    final boolean selected;
    /// The elements; may hold more rows than the step has.
    float[] data = new float[0];

    /// Creates it without memory.
    ///
    /// @param width elements in a row
    /// @param selected whether rows are those that want logits
    Activations(int width, boolean selected) {
        this.width = width;
        this.selected = selected;
    }
}
