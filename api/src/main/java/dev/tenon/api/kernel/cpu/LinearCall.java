package dev.tenon.api.kernel.cpu;

import java.lang.foreign.MemorySegment;

/// What a call of a [LinearKernel] computes: `out[outOffset + t * outStride + r] = dot(weight row firstRow + r, x[t])`
/// for `r` in `[0, rows)` and `t` in `[0, tokens)`.
///
/// A thread makes one for its scratch memory and fills it for each call, so that calls make no objects; kernels only
/// read it. Not safe for several threads at once.
public final class LinearCall {
    /// [LinearKernel#scratchBytes] or more, of the calling thread, aligned to 64 bytes; what it holds is undefined.
    public final MemorySegment scratch;

    /// The weight matrix, rows one after the other, off-heap; borrowed.
    public MemorySegment weights;
    /// Bytes of a weight row.
    public long rowBytes;
    /// Elements in a row.
    public int n;
    /// First row.
    public int firstRow;
    /// Number of rows, at least 1.
    public int rows;
    /// Memory of the packed rows, as it was given to [LinearKernel#pack(HostFloats,int,int,MemorySegment,int)].
    public MemorySegment packed;
    /// How many packed rows are multiplied, from the first one on; at least 1.
    public int tokens;
    /// Receives the sums.
    public HostFloats out;
    /// Index of the first sum.
    public int outOffset;
    /// Elements between the sums of two tokens.
    public int outStride;

    /// Creates a call that has only memory.
    ///
    /// @param scratch memory of the thread; borrowed
    public LinearCall(MemorySegment scratch) {
        this.scratch = scratch;
    }

    /// Sets the matrix.
    ///
    /// @param matrix [#weights]
    /// @param bytes [#rowBytes]
    /// @param elements [#n]
    /// @return this call
    public LinearCall of(MemorySegment matrix, long bytes, int elements) {
        weights = matrix;
        rowBytes = bytes;
        n = elements;
        return this;
    }

    /// Sets the weight rows.
    ///
    /// @param first [#firstRow]
    /// @param count [#rows]
    /// @return this call
    public LinearCall rows(int first, int count) {
        firstRow = first;
        rows = count;
        return this;
    }

    /// Sets the activation rows.
    ///
    /// @param memory [#packed]
    /// @param count [#tokens]
    /// @return this call
    public LinearCall times(MemorySegment memory, int count) {
        packed = memory;
        tokens = count;
        return this;
    }

    /// Sets where sums go.
    ///
    /// @param sums [#out]
    /// @param offset [#outOffset]
    /// @param stride [#outStride]
    /// @return this call
    public LinearCall to(HostFloats sums, int offset, int stride) {
        out = sums;
        outOffset = offset;
        outStride = stride;
        return this;
    }

    /// {@return where a weight row begins in [#weights], in bytes}
    ///
    /// @param row counted from the first row of the call
    public long rowAt(int row) {
        return (firstRow + (long) row) * rowBytes;
    }
}
