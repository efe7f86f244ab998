package dev.tenon.backend.nv.tegra.gpu;

import java.lang.foreign.MemorySegment;

/// A hardware queue: a ring of entries that point at command words, and a doorbell. For one thread
/// at a time.
public interface GpuChannel extends AutoCloseable {
    /// {@return the ring, 8 bytes an entry}
    MemorySegment ring();

    /// {@return number of entries of the ring, a power of two}
    int entries();

    /// {@return GET and PUT, see [Gpfifo]}
    MemorySegment userd();

    /// {@return what to store to the doorbell}
    int token();

    /// Tells the GPU that PUT has moved. The caller has put a full fence before it.
    void ringDoorbell();

    /// {@return whether the driver has torn the channel down after an error}
    boolean isTornDown();

    /// Frees it; nothing may be running in it.
    @Override
    void close();
}
