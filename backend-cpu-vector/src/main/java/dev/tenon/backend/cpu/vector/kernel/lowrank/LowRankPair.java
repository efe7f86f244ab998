package dev.tenon.backend.cpu.vector.kernel.lowrank;

/// The two matrices of an adapter as [LowRankMath] takes them.
///
/// @param a `[cols, ranks]`, the first matrix transposed and padded
/// @param ranks padded rank
/// @param b the second matrix, as [LowRankMath#index] says
/// @param rank its number of columns
public record LowRankPair(float[] a, int ranks, float[] b, int rank) {
    /// {@return columns of the first matrix}
    public int cols() {
        return a.length / ranks;
    }

    /// {@return pieces of the first product}
    public int pieces() {
        return Math.ceilDiv(cols(), LowRankMath.PIECE);
    }
}
