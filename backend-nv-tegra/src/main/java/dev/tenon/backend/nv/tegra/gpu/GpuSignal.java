package dev.tenon.backend.nv.tegra.gpu;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// A number in memory that the GPU waits for and writes, and the time when it wrote it.
///
/// ```
/// byte 0        8             16
///      | value  | nanoseconds |
/// ```
///
/// A view of memory that somebody else owns. Safe for any thread.
public final class GpuSignal {
    /// Size and alignment.
    public static final int BYTES = 16;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment memory;
    private final long va;

    /// @param memory where it lies
    /// @param offset where in it, a multiple of 16
    public GpuSignal(GpuMemory memory, long offset) {
        this.memory = memory.host().asSlice(offset, BYTES);
        this.va = memory.va() + offset;
    }

    /// {@return its address on the GPU}
    public long va() {
        return va;
    }

    /// {@return its value}
    public long value() {
        return (long) LONG.getAcquire(memory, 0L);
    }

    /// {@return when the GPU wrote it, in nanoseconds of its clock}
    public long nanos() {
        return (long) LONG.getAcquire(memory, 8L);
    }

    /// Sets it from the processor.
    ///
    /// @param value new value
    public void set(long value) {
        LONG.setVolatile(memory, 0L, value);
    }
}
