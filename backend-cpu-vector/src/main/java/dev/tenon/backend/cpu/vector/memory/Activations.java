package dev.tenon.backend.cpu.vector.memory;

import dev.tenon.api.kernel.cpu.HostFloats;
import java.lang.foreign.MemorySegment;

/// The array of one or more values of a graph whose lives do not overlap, `[rows, width]`.
public final class Activations {
    private static final float[] NONE = new float[0];

    /// Elements in a row.
    public final int width;
    /// Whether rows are those that want logits, instead of all tokens.
    public final boolean selected;
    /// The elements; may hold more rows than the step has. Set by [#use] only.
    public float[] data;
    /// The elements, for kernels of other bundles.
    public HostFloats floats;

    /// Creates it without memory.
    ///
    /// @param width elements in a row
    /// @param selected whether rows are those that want logits
    public Activations(int width, boolean selected) {
        this.width = width;
        this.selected = selected;
        release();
    }

    /// Lets its memory go.
    public void release() {
        use(NONE);
    }

    /// {@return a view of the elements}
    public MemorySegment view() {
        return floats.view();
    }

    /// Gives it other memory.
    ///
    /// @param elements at least as many as steps need; not copied
    public void use(float[] elements) {
        data = elements;
        floats = new HostFloats(elements);
    }
}
