package dev.tenon.backend.cpu.vector.math;

import dev.tenon.backend.cpu.vector.memory.Activations;

/// A norm of groups of a row.
public sealed interface RowNorm permits RmsNormMath, LayerNormMath {
    /// {@return elements in a group}
    int group();

    /// Norms groups that follow each other; source and target may be the same.
    ///
    /// @param x source
    /// @param at where the first group starts, in both
    /// @param out target
    /// @param count number of groups
    void groups(Activations x, int at, Activations out, int count);
}
