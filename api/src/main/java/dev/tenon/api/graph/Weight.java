package dev.tenon.api.graph;

import java.util.Objects;

/// A tensor of the model file that a graph needs, or some rows of it: a matrix of `rows` rows of `cols`
/// elements, a vector (`rows` = 1), or several matrices of one shape (`slices` > 1), such as one an expert.
///
/// A view ([#rows(int, int)]) names the same tensor as the whole and takes a run of rows of each slice: of
/// fused projections one, of fused gate and up matrices the gate. Slice `s` of a weight begins at row
/// `s * tensorRows + firstRow` of the tensor.
///
/// @param name tensor name in the GGUF file, such as `blk.0.attn_q.weight`
/// @param cols elements in a row (GGUF's first, fastest dimension)
/// @param rows number of rows of a slice that are used
/// @param slices number of matrices (GGUF's third dimension); 1 for a matrix or a vector
/// @param firstRow first row of a slice that is used; 0 for a whole tensor
/// @param tensorRows number of rows that a slice has in the file; `rows` for a whole tensor
public record Weight(String name, int cols, int rows, int slices, int firstRow, int tensorRows) {
    /// Checks the shape.
    public Weight {
        Objects.requireNonNull(name, "name");
        if (cols < 1 || rows < 1 || slices < 1) {
            throw new IllegalArgumentException("weight " + name + " has shape [" + cols + ", " + rows
                    + (slices == 1 ? "" : ", " + slices) + "]; expected lengths of at least 1");
        }
        if (firstRow < 0 || (long) firstRow + rows > tensorRows) {
            throw new IllegalArgumentException("rows " + firstRow + " to " + ((long) firstRow + rows) + " of weight "
                    + name + " are asked for; it has " + tensorRows);
        }
    }

    /// A whole matrix.
    ///
    /// @param name tensor name
    /// @param cols elements in a row
    /// @param rows number of rows
    public Weight(String name, int cols, int rows) {
        this(name, cols, rows, 1);
    }

    /// Several whole matrices, such as one an expert.
    ///
    /// @param name tensor name
    /// @param cols elements in a row
    /// @param rows number of rows of each matrix
    /// @param slices number of matrices
    public Weight(String name, int cols, int rows, int slices) {
        this(name, cols, rows, slices, 0, rows);
    }

    /// {@return a vector weight}
    ///
    /// @param name tensor name
    /// @param length elements
    public static Weight vector(String name, int length) {
        return new Weight(name, length, 1);
    }

    /// {@return a view of some rows, of each slice if there are several}
    ///
    /// @param from first row, counted from this weight's first
    /// @param to row after the last
    /// @throws IllegalArgumentException unless `0 <= from < to <= rows`
    public Weight rows(int from, int to) {
        if (from < 0 || from >= to || to > rows) {
            throw new IllegalArgumentException("rows " + from + " to " + to + " of " + this + " are asked for");
        }
        return new Weight(name, cols, to - from, slices, firstRow + from, tensorRows);
    }

    /// {@return whether this is a part of its tensor}
    public boolean isView() {
        return rows != tensorRows;
    }

    /// {@return the whole tensor}
    public Weight tensor() {
        return isView() ? new Weight(name, cols, tensorRows, slices) : this;
    }

    /// {@return whether this is a single row}
    public boolean isVector() {
        return rows == 1 && slices == 1;
    }

    /// {@return number of elements}
    public long elements() {
        return (long) cols * rows * slices;
    }

    /// {@return name and shape, the fastest length first, such as `blk.0.attn_q.weight [64, 32]`}
    @Override
    public String toString() {
        String shape = name + " [" + cols + ", " + rows + (slices == 1 ? "]" : ", " + slices + "]");
        return isView() ? shape + " from row " + firstRow : shape;
    }
}
