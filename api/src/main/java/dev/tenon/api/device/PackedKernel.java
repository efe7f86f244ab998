package dev.tenon.api.device;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/// A kernel for `linear` on CPU devices that works on activations which it has packed (quantised,
/// reordered) once a step.
///
/// A step first packs every activation row, then multiplies ranges of weight rows by all of them, each
/// range on one thread.
/// The value for a (weight row, token) pair depends on nothing else in the call. Stateless and safe for
/// any thread.
@ConsumerType
public interface PackedKernel extends Kernel {
    /// {@return whether rows of a length can be multiplied}
    ///
    /// @param n elements in a row
    boolean accepts(int n);

    /// {@return bytes of a packed activation row; a multiple of 64}
    ///
    /// @param n elements in a row, [#accepts] them
    long packedBytes(int n);

    /// {@return bytes of scratch memory that a call of [#run] needs; may be 0}
    ///
    /// @param n elements in a row
    /// @param tokens number of activation rows
    long scratchBytes(int n, int tokens);

    /// Packs one activation row.
    ///
    /// @param x holds the row; borrowed
    /// @param xOffset index of its first element
    /// @param n elements
    /// @param packed receives the packed row, off-heap, aligned to 64 bytes
    void pack(float[] x, int xOffset, int n, MemorySegment packed);

    /// Computes `out[outOffset + t * outStride + r] = dot(weight row firstRow + r, x[t])` for `r` in `[0,
    /// rows)` and `t` in
    /// `[0, tokens)`.
    ///
    /// @param weights the weight matrix, rows one after the other, off-heap; borrowed
    /// @param rowBytes bytes of a row
    /// @param firstRow first row
    /// @param rows number of rows
    /// @param n elements in a row
    /// @param packed packed rows, `packedBytes(n)` apart, off-heap, aligned to 64 bytes
    /// @param tokens number of packed rows
    /// @param out receives the sums
    /// @param outOffset index of the first sum
    /// @param outStride elements between the sums of two tokens
    /// @param scratch memory of the calling thread, off-heap, aligned to 64 bytes
    void run(
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            int n,
            MemorySegment packed,
            int tokens,
            float[] out,
            int outOffset,
            int outStride,
            MemorySegment scratch);

    @Override
    default String deviceKind() {
        return "cpu";
    }

    @Override
    default String op() {
        return "linear";
    }
}
