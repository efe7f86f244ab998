package dev.tenon.backend.cpu.vector.kernel.lowrank;

import dev.tenon.api.kernel.cpu.LinearCall;

/// The two products of a low-rank adapter, for some of a step's rows. Sums are added in ascending order, each product
/// fused with its sum, so that all forms and all numbers of rows give the same bits. Stateless and safe for any thread.
public interface LowRankMath {
    /// The plain Java form.
    LowRankMath SCALAR = new ScalarLowRankMath();

    /// Columns of a piece of the first product.
    int PIECE = 256;

    /// {@return what the rank of the first matrix and the rows of the second one are padded to a multiple of, with
    /// zeros}
    int lanes();

    /// {@return where an element of the second matrix is: blocks of [#lanes] rows lie one after the other, each
    /// transposed, because columns that are apart by a power of two would drive each other out of the first cache}
    ///
    /// @param row row
    /// @param k column
    /// @param rank number of columns
    default int index(int row, int k, int rank) {
        return (row / lanes() * rank + k) * lanes() + row % lanes();
    }

    /// Multiplies rows with the first matrix: `sums[r * ranks + k] = sum_c x[r * width + c] * a[c * ranks + k]`, in
    /// pieces of [#PIECE] columns whose sums are added.
    ///
    /// @param pair the matrices
    /// @param x `[.., width]`
    /// @param width elements from one row of `x` to the next
    /// @param rows numbers of rows
    /// @param first index of the first of them
    /// @param last index after the last
    /// @param sums `[.., ranks]`
    void down(LowRankPair pair, float[] x, int width, int[] rows, int first, int last, float[] sums);

    /// Multiplies a piece of a row with the first matrix.
    ///
    /// @param pair the matrices
    /// @param x the row
    /// @param piece which piece
    /// @param sums `[pieces, ranks]`
    void piece(LowRankPair pair, float[] x, int piece, float[] sums);

    /// Adds the product with some rows of the second matrix: `out[outOffset + r * outStride + i] += sum_k down[r *
    /// ranks
    /// + k] * b[index(firstRow + i, k, rank)]`.
    ///
    /// @param pair the matrices
    /// @param call which rows of the matrix, and what is added to
    /// @param down `[.., ranks]`
    /// @param rows numbers of rows
    /// @param count how many
    void up(LowRankPair pair, LinearCall call, float[] down, int[] rows, int count);
}
