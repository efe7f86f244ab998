package dev.tenon.kernels.nvidia.step;

/// The numbers of rows for which launches are planned: powers of two. A step of any size runs as
/// the next larger one, with rows that nobody looks at.
public final class Buckets {
    private Buckets() {}

    /// {@return the smallest bucket that holds a number of rows}
    ///
    /// @param rows at least 1; 0 gives 0
    public static int of(int rows) {
        return rows == 0 ? 0 : Integer.highestOneBit(Math.max(1, rows - 1)) << (rows > 1 ? 1 : 0);
    }
}
