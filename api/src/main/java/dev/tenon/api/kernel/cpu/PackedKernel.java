package dev.tenon.api.kernel.cpu;

import dev.tenon.api.kernel.Kernel;
import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/// A kernel for `linear` on CPU devices that works on activations which it has packed (quantised,
/// reordered) once a step.
///
/// A step first packs every activation row, then multiplies ranges of weight rows by all of them,
/// each range on one thread. The value for a (weight row, token) pair depends on nothing else in
/// the call. Stateless and safe for any thread.
@ConsumerType
public interface PackedKernel extends Kernel {
    /// {@return whether rows of a length can be multiplied}
    ///
    /// @param n elements in a row
    boolean accepts(int n);

    /// {@return bytes of an activation row that is packed alone; a multiple of 64}
    ///
    /// @param n elements in a row, [#accepts] them
    long packedBytes(int n);

    /// {@return bytes of some activation rows that are packed together; a multiple of 64}
    ///
    /// @param n elements in a row, [#accepts] them
    /// @param tokens how many rows
    default long packedBytes(int n, int tokens) {
        return Math.multiplyExact(tokens, packedBytes(n));
    }

    /// {@return how many weight rows [#run] multiplies together when tokens are many, or a multiple of that: near the
    /// end of a matrix threads take so many at once. 1 to 64, else the nearest of these counts}
    default int panelRows() {
        return 32;
    }

    /// {@return bytes of scratch memory that a call of [#run] needs; may be 0}
    ///
    /// @param n elements in a row
    /// @param tokens number of activation rows
    long scratchBytes(int n, int tokens);

    /// Packs an activation row alone: as the first row of memory that holds no other.
    ///
    /// @param x holds the row; borrowed
    /// @param xOffset index of its first element
    /// @param n elements
    /// @param packed receives the packed row: [#packedBytes(int)] bytes, off-heap, aligned to 64 bytes
    void pack(HostFloats x, int xOffset, int n, MemorySegment packed);

    /// Packs an activation row among others. Rows lie one after the other unless a kernel lays them out in
    /// another way; different threads may pack different rows at once.
    ///
    /// @param x holds the row; borrowed
    /// @param xOffset index of its first element
    /// @param n elements
    /// @param packed memory of all rows: [#packedBytes(int,int)] bytes, off-heap, aligned to 64 bytes; the
    ///     same whenever one of them is packed or multiplied
    /// @param token which row
    default void pack(HostFloats x, int xOffset, int n, MemorySegment packed, int token) {
        long bytes = packedBytes(n);
        pack(x, xOffset, n, packed.asSlice(token * bytes, bytes));
    }

    /// Computes `out[outOffset + t * outStride + r] = dot(weight row firstRow + r, x[t])` for `r`
    /// in `[0, rows)` and `t` in `[0, tokens)`.
    ///
    /// @param weights the weight matrix, rows one after the other, off-heap; borrowed
    /// @param rowBytes bytes of a row
    /// @param firstRow first row
    /// @param rows number of rows
    /// @param n elements in a row
    /// @param packed memory of the packed rows, as it was given to [#pack(HostFloats,int,int,MemorySegment,int)]
    /// @param tokens how many rows are multiplied, from the first one on
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
            HostFloats out,
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
