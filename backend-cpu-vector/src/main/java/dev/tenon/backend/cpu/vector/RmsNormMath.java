package dev.tenon.backend.cpu.vector;

import dev.tenon.backend.cpu.vector.kernel.ElementMath;

/// Root-mean-square norm of a group.
///
/// @param weight `[group]`, float32; not copied
/// @param eps added to the mean square
/// @param math computes the sums
record RmsNormMath(float[] weight, float eps, ElementMath math) {
    /// Norms one group; source and target may be the same.
    ///
    /// @param x source
    /// @param xOffset where the group starts
    /// @param out target
    /// @param outOffset where the group starts
    void group(float[] x, int xOffset, float[] out, int outOffset) {
        double square = (double) math.squares(x, xOffset, weight.length) / weight.length;
        math.scale(x, xOffset, (float) (1 / Math.sqrt(square + eps)), weight, out, outOffset);
    }
}
