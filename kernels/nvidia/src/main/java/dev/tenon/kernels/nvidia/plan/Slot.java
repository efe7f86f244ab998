package dev.tenon.kernels.nvidia.plan;

import dev.tenon.kernels.nvidia.BufferSpec;

/// The memory of one or several values of a graph whose lives do not overlap: float32 rows, or, in
/// steps of many rows, float16 rows at its beginning.
final class Slot {
    final BufferSpec buffer;
    final int width;
    /// Whether its rows are those that want logits.
    final boolean selected;

    Slot(BufferSpec buffer, int width, boolean selected) {
        this.buffer = buffer;
        this.width = width;
        this.selected = selected;
    }
}
