package dev.tenon.api.kernel.cpu;

import dev.tenon.api.kernel.Kernel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.osgi.annotation.versioning.ConsumerType;

/// The kernel for `linear` on CPU devices: multiplies weight rows of one format by the activation rows of
/// a step.
///
/// A step first packs every activation row, once for all matrices with the same kernel and row length, then
/// multiplies ranges of weight rows by all of them, each range on one thread. A kernel may pack as it likes:
/// reorder, or round to fewer bits. By default packed rows are the float32 activations as they are, so that
/// [#name], [#format] and [#run] make a kernel.
///
/// Bits do not depend on the cut of the work: the value for a (weight row, token) pair depends on nothing
/// else in a call, neither on the other rows and tokens nor on where a range begins. So the order of additions
/// is the same for one token as for many. `KernelContract` of the contracts tests that.
///
/// Memory: weights, packed rows and scratch lie off-heap; all are borrowed for the call. Weights have no
/// alignment but that of their bytes, and nothing may be read outside of the rows of a call: a matrix may end
/// where its file does. Packed rows and scratch are aligned to 64 bytes.
///
/// Stateless and safe for any thread: each thread calls [#run] for rows of its own, with scratch memory of
/// its own.
@ConsumerType
public interface LinearKernel extends Kernel {
    /// {@return whether rows of a length can be multiplied; by default all can}
    ///
    /// @param n elements in a row, a multiple of the format's block size
    default boolean accepts(int n) {
        return true;
    }

    /// {@return bytes of an activation row that is packed alone; a multiple of 64. By default those of the
    /// float32 numbers, rounded up}
    ///
    /// @param n elements in a row, [#accepts] them
    default long packedBytes(int n) {
        return (4L * n + 63) / 64 * 64;
    }

    /// {@return bytes of some activation rows that are packed together; a multiple of 64. By default
    /// those of the rows alone}
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

    /// {@return bytes of scratch memory that a call of [#run] needs; by default none}
    ///
    /// @param n elements in a row
    /// @param tokens number of activation rows
    default long scratchBytes(int n, int tokens) {
        return 0;
    }

    /// Packs an activation row alone: as the first row of memory that holds no other. By default copies it.
    ///
    /// @param x holds the row; borrowed
    /// @param xOffset index of its first element
    /// @param n elements
    /// @param packed receives the packed row: [#packedBytes(int)] bytes, off-heap, aligned to 64 bytes
    default void pack(HostFloats x, int xOffset, int n, MemorySegment packed) {
        MemorySegment.copy(x.array(), xOffset, packed, ValueLayout.JAVA_FLOAT, 0, n);
    }

    /// Packs an activation row among others. Rows lie one after the other, [#packedBytes(int)] bytes each, unless a
    /// kernel lays them out in another way; different threads may pack different rows at once.
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

    /// Computes the sums of a call, and writes nothing else to its `out`.
    ///
    /// @param call what is multiplied, and where sums go; borrowed
    void run(LinearCall call);

    @Override
    default String deviceKind() {
        return "cpu";
    }

    @Override
    default String op() {
        return "linear";
    }
}
