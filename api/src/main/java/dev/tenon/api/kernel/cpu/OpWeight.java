package dev.tenon.api.kernel.cpu;

import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import java.lang.foreign.MemorySegment;

/// A weight of an op with its data, as a plan binds it.
///
/// @param weight name and shape
/// @param format how rows are stored
/// @param data the tensor from the weight's first row on, read-only; borrowed until the plan is
///     closed
public record OpWeight(Weight weight, QuantFormat format, MemorySegment data) {
    /// {@return bytes of a row}
    public long rowBytes() {
        return format.bytesFor(weight.cols());
    }

    /// {@return where a row begins in [#data]}
    ///
    /// @param slice which of several matrices, 0-based
    /// @param row which row of it, 0-based
    public long rowAt(int slice, int row) {
        return ((long) slice * weight.tensorRows() + row) * rowBytes();
    }

    /// Decodes all elements, `[slices, rows, cols]`.
    ///
    /// @param target receives them from its beginning on
    public void decode(float[] target) {
        int slice = Math.multiplyExact(weight.rows(), weight.cols());
        for (int s = 0; s < weight.slices(); s++) {
            format.dequantize(data, rowAt(s, 0), target, s * slice, slice);
        }
    }

    /// {@return all elements, `[slices, rows, cols]`, decoded now; the caller's}
    ///
    /// @throws ArithmeticException if they are more than an array holds
    public float[] decode() {
        float[] all = new float[Math.toIntExact(weight.elements())];
        decode(all);
        return all;
    }
}
