package dev.tenon.kernels.nvidia.launch;

import dev.tenon.kernels.nvidia.BufferSpec;

/// The memory of one or several values of a graph whose lives do not overlap: float32 rows, or, in
/// steps of many rows, float16 rows at its beginning.
public final class Slot {
    public final BufferSpec buffer;
    public final int width;
    /// Whether its rows are those that want logits.
    public final boolean selected;

    public Slot(BufferSpec buffer, int width, boolean selected) {
        this.buffer = buffer;
        this.width = width;
        this.selected = selected;
    }
}
