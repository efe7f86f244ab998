package dev.tenon.kernels.x86.call;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.AttentionRows;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// The native signature of generated functions: three pointers, then eight numbers; and that of
/// attention.
///
/// Each memory segment passed is held while the call runs, so that it is not unmapped meanwhile.
public final class NativeCall {
    private static final ValueLayout.OfLong L = JAVA_LONG;
    private static final MethodHandle PLAIN = Linker.nativeLinker()
            .downcallHandle(FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, ADDRESS, L, L, L, L, L, L, L, L));
    /// For calls of some microseconds at most, with heap arrays: they hold off the garbage
    /// collector.
    private static final MethodHandle BRIEF = Linker.nativeLinker()
            .downcallHandle(
                    FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, ADDRESS, L, L, L, L, L, L, L, L),
                    Linker.Option.critical(true));
    private static final MethodHandle CRITICAL = Linker.nativeLinker()
            .downcallHandle(FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, L, L, L, L), Linker.Option.critical(true));

    private NativeCall() {}

    /// Calls generated code.
    public static void plain(
            MemorySegment code,
            MemorySegment a,
            MemorySegment b,
            MemorySegment c,
            long d,
            long e,
            long f,
            long g,
            long h,
            long i,
            long j,
            long k) {
        try {
            PLAIN.invokeExact(code, a, b, c, d, e, f, g, h, i, j, k);
        } catch (Throwable t) {
            throw explain(code, t);
        }
    }

    /// Calls generated code that runs for microseconds; segments may be on the heap.
    public static void brief(
            MemorySegment code,
            MemorySegment a,
            MemorySegment b,
            MemorySegment c,
            long d,
            long e,
            long f,
            long g,
            long h,
            long i,
            long j,
            long k) {
        try {
            BRIEF.invokeExact(code, a, b, c, d, e, f, g, h, i, j, k);
        } catch (Throwable t) {
            throw explain(code, t);
        }
    }

    /// Calls generated code that runs for microseconds; segments may be on the heap.
    public static void critical(MemorySegment code, MemorySegment a, MemorySegment b, long c, long d, long e, long f) {
        try {
            CRITICAL.invokeExact(code, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw explain(code, t);
        }
    }

    /// Calls generated code of attention, which runs for microseconds; all segments but page and
    /// scratch may be on the heap. The code takes the addresses of keys and values; the page is
    /// passed after all else, only so that it is held.
    ///
    /// @param floats whether the code makes float32 of the positions that rows see before it reads them
    public static void attention(
            MemorySegment code,
            MemorySegment page,
            long keysAt,
            long valuesAt,
            AttentionRows rows,
            MemorySegment scratch,
            boolean floats) {
        int runs = rows.runCount();
        long from = floats ? rows.run(2) : 0;
        long to = floats ? rows.run(runs * AttentionKernel.RUN - 1) : 0;
        try {
            long at = page.address();
            Attention.CALL.invokeExact(
                    code,
                    at + keysAt,
                    at + valuesAt,
                    scratch,
                    rows.q(),
                    rows.max(),
                    rows.sum(),
                    rows.acc(),
                    rows.runs(),
                    (long) runs,
                    from,
                    to,
                    page);
        } catch (Throwable t) {
            throw explain(code, t);
        }
    }

    /// Made when it is needed first.
    private static final class Attention {
        static final MethodHandle CALL = Linker.nativeLinker()
                .downcallHandle(
                        FunctionDescriptor.ofVoid(
                                L, L, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, L, L, L, ADDRESS),
                        Linker.Option.critical(true));
    }

    private static RuntimeException explain(MemorySegment code, Throwable t) {
        if (!code.scope().isAlive()) {
            return CodeMemory.closed(t);
        }
        return CodeMemory.rethrow(t);
    }
}
