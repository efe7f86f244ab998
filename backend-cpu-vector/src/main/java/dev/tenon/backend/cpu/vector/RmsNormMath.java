package dev.tenon.backend.cpu.vector;

import java.lang.foreign.MemorySegment;

/// Root-mean-square norm of groups.
///
/// @param weight `[group]`, float32; not copied
/// @param view view of `weight`
/// @param eps added to the mean square
/// @param elements computes it
record RmsNormMath(float[] weight, MemorySegment view, float eps, Elements elements) {
    /// Creates a norm.
    ///
    /// @param weight `[group]`, float32; not copied
    /// @param eps added to the mean square
    /// @param elements computes it
    RmsNormMath(float[] weight, float eps, Elements elements) {
        this(weight, MemorySegment.ofArray(weight), eps, elements);
    }

    /// Norms groups that follow each other; source and target may be the same.
    ///
    /// @param x source
    /// @param at where the first group starts, in both
    /// @param out target
    /// @param count number of groups
    void groups(Activations x, int at, Activations out, int count) {
        elements.norm(count, x, at, weight, view, eps, out);
    }
}
