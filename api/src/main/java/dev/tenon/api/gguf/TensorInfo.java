package dev.tenon.api.gguf;

import java.util.List;

/// What a GGUF file says of one tensor.
///
/// @param name tensor name, such as `blk.0.attn_q.weight`
/// @param ggmlType tensor type number; [dev.tenon.api.quant.QuantFormat#ggmlType()]
/// @param shape one to four lengths, the fastest first, as in the file: a matrix of `rows` rows of
///     `cols` elements is `[cols, rows]`
/// @param part index of the split file that holds the data; 0 for a single file
/// @param offsetBytes where the data starts, from the start of that file
/// @param sizeBytes bytes of the data
public record TensorInfo(String name, int ggmlType, List<Long> shape, int part, long offsetBytes, long sizeBytes) {
    /// Copies the shape.
    public TensorInfo {
        shape = List.copyOf(shape);
    }

    /// {@return length of a row: the fastest dimension}
    public long cols() {
        return shape.getFirst();
    }

    /// {@return number of rows: the product of all dimensions but the fastest; 1 for a vector}
    public long rows() {
        long rows = 1;
        for (int i = 1; i < shape.size(); i++) {
            rows *= shape.get(i);
        }
        return rows;
    }

    /// {@return number of elements}
    public long elements() {
        return cols() * rows();
    }
}
