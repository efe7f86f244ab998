package dev.tenon.api.kernel.cpu;

import dev.tenon.api.kernel.Kernel;
import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/// A Java kernel for `linear` on CPU devices: the dot products of weight rows with one row of activations.
@ConsumerType
public interface RowKernel extends Kernel {
    /// Computes `out[outOffset + r] = dot(weight row firstRow + r, x)` for `r` in `[0, rows)`.
    ///
    /// @param weights the weight matrix, rows one after the other; borrowed
    /// @param rowBytes bytes of a row
    /// @param firstRow first row
    /// @param rows number of rows
    /// @param x activations; borrowed
    /// @param xOffset index of the first activation
    /// @param n elements in a row, a multiple of the format's block size
    /// @param out receives the sums
    /// @param outOffset index of the first sum
    void dot(
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            float[] x,
            int xOffset,
            int n,
            float[] out,
            int outOffset);

    @Override
    default String deviceKind() {
        return "cpu";
    }

    @Override
    default String op() {
        return "linear";
    }
}
