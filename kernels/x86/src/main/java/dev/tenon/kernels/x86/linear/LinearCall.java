package dev.tenon.kernels.x86.linear;

import dev.tenon.api.kernel.cpu.HostFloats;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;

/// The arguments of one call of [LinearKernel#run], and the copying of its results.
///
/// A call must not allocate, so these objects are used again and again: [#take] lends one to a
/// thread, [#close] ends the loan and forgets the memory. There are several for each processor;
/// only if all of them are lent is a new one made. (They are not kept in thread locals, which would
/// hold this bundle's classes after it was removed.)
final class LinearCall implements AutoCloseable {
    private static final LinearCall[] ALL =
            new LinearCall[8 * Integer.highestOneBit(Runtime.getRuntime().availableProcessors())];

    static {
        for (int i = 0; i < ALL.length; i++) {
            ALL[i] = new LinearCall();
        }
    }

    private final AtomicBoolean lent = new AtomicBoolean();

    /// The functions that compute.
    LinearCode code;
    /// Weights `[rows][n]`, off-heap, of which `rows` from `firstRow` on are multiplied.
    MemorySegment weights;
    /// Bytes from one row of weights to the next.
    long rowBytes;

    int firstRow;
    int rows;
    /// Elements of a row.
    int n;
    /// Packed activations `[tokens]`.
    MemorySegment packed;
    /// Bytes from one packed row to the next.
    long packedStride;

    int tokens;
    /// Results `[tokens][outStride]`, from element `outOffset` on.
    HostFloats out;

    int outOffset;
    int outStride;
    MemorySegment scratch;

    private LinearCall() {}

    /// {@return an object that no other thread uses, until [#close]}
    static LinearCall take() {
        int first = (int) Thread.currentThread().threadId();
        for (int i = 0; i < ALL.length; i++) {
            LinearCall call = ALL[first + i & ALL.length - 1];
            if (call.lent.compareAndSet(false, true)) {
                return call;
            }
        }
        return new LinearCall();
    }

    /// Ends the loan.
    @Override
    public void close() {
        code = null;
        weights = null;
        packed = null;
        out = null;
        scratch = null;
        lent.setRelease(false);
    }

    /// {@return where a row of weights begins, in bytes}
    ///
    /// @param row counted from the first row of the call
    long rowAt(int row) {
        return (firstRow + (long) row) * rowBytes;
    }

    /// Copies results from scratch memory to where they are wanted.
    ///
    /// @param at byte of scratch memory where the first result is
    /// @param tokenBytes bytes from one token's results to the next one's
    /// @param firstToken the first token that there are results of
    /// @param count how many tokens there are results of
    /// @param row the first row, counted from the first row of the call
    /// @param rowCount results of each token
    void copyOut(long at, long tokenBytes, int firstToken, int count, int row, int rowCount) {
        for (int t = 0; t < count; t++) {
            MemorySegment.copy(
                    scratch,
                    ValueLayout.JAVA_FLOAT,
                    at + t * tokenBytes,
                    out.array(),
                    outOffset + (firstToken + t) * outStride + row,
                    rowCount);
        }
    }
}
