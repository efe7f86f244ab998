package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// Root-mean-square norm of groups.
///
/// @param weight `[group]`, float32; not copied
/// @param eps added to the mean square
/// @param elements computes it
public record RmsNormMath(HostFloats weight, float eps, ElementDispatch elements) {
    /// {@return elements in a group}
    int group() {
        return weight.length();
    }

    /// Norms groups that follow each other; source and target may be the same.
    ///
    /// @param x source
    /// @param at where the first group starts, in both
    /// @param out target
    /// @param count number of groups
    void groups(Activations x, int at, Activations out, int count) {
        elements.norm(count, x, at, weight, eps, out);
    }
}
