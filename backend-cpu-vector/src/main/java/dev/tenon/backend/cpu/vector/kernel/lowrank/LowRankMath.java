package dev.tenon.backend.cpu.vector.kernel.lowrank;

/// The two products of a low-rank adapter, for some of a step's rows. Sums are added in ascending order, each product
/// fused with its sum, so that all forms and all numbers of rows give the same bits. Stateless and safe for any thread.
public interface LowRankMath {
    /// The plain Java form.
    LowRankMath SCALAR = new ScalarLowRankMath();

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

    /// Multiplies some columns of rows with the first matrix:
    /// `sums[r * ranks + k] = sum_c x[r * width + c] * a[c * ranks + k]`, or adds that to what is there.
    ///
    /// @param a `[cols, ranks]`, the first matrix transposed
    /// @param from first column
    /// @param to column after the last
    /// @param ranks padded rank
    /// @param x `[.., width]`
    /// @param width elements from one row of `x` to the next
    /// @param rows numbers of rows
    /// @param first index of the first of them
    /// @param last index after the last
    /// @param sums `[.., ranks]`
    /// @param more whether to add
    void down(
            float[] a,
            int from,
            int to,
            int ranks,
            float[] x,
            int width,
            int[] rows,
            int first,
            int last,
            float[] sums,
            boolean more);

    /// Adds the product with some rows of the second matrix:
    /// `out[at + r * stride + i] += sum_k down[r * ranks + k] * b[index(from + i, k, rank)]`.
    ///
    /// @param b the second matrix, as [#index] says
    /// @param rank its number of columns
    /// @param from first row of the matrix
    /// @param n how many
    /// @param down `[.., ranks]`
    /// @param ranks padded rank
    /// @param rows numbers of rows
    /// @param count how many
    /// @param out what is added to
    /// @param at index of row 0's first element
    /// @param stride elements from one row of `out` to the next
    void up(
            float[] b,
            int rank,
            int from,
            int n,
            float[] down,
            int ranks,
            int[] rows,
            int count,
            float[] out,
            int at,
            int stride);
}
