package dev.tenon.backend.cpu.vector.kernel.linear;

import dev.tenon.api.device.Support;
import java.lang.foreign.MemorySegment;

/// Multiplies rows of a weight matrix by rows of activations.
///
/// The value for a (weight row, token) pair depends on nothing else in the call: neither on how many
/// tokens or rows go together nor on where ranges are cut. Stateless and safe for any thread.
public interface FloatLinear {
    /// {@return what reports call it, such as `q6_k.vector512`}
    String name();

    /// {@return whether it is a fast one}
    Support.Level level();

    /// {@return floats of scratch that a call needs}
    ///
    /// @param n elements in a weight row
    int scratchFloats(int n);

    /// {@return int8 elements of scratch that a call needs}
    ///
    /// @param n elements in a weight row
    int scratchBytes(int n);

    /// Computes `out[outOffset + t * outStride + r] = dot(weight row firstRow + r, x + t * n)` for `r` in
    /// `[0, rows)` and tokens `[0, tokens)`.
    ///
    /// @param weights the whole matrix, rows one after the other; borrowed
    /// @param rowBytes bytes of a row
    /// @param firstRow first row
    /// @param rows number of rows
    /// @param x activations `[tokens, n]`; borrowed
    /// @param n elements in a row
    /// @param tokens number of activation rows
    /// @param out receives the sums
    /// @param outOffset index of the first sum
    /// @param outStride distance between the tokens' rows in `out`
    /// @param scratch memory of the calling thread
    void run(
            MemorySegment weights,
            long rowBytes,
            int firstRow,
            int rows,
            float[] x,
            int n,
            int tokens,
            float[] out,
            int outOffset,
            int outStride,
            Scratch scratch);
}
