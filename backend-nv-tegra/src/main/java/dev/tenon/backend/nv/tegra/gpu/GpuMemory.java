package dev.tenon.backend.nv.tegra.gpu;

import java.lang.foreign.MemorySegment;

/// Memory that processor and GPU both see. Zeroed at first. Whoever allocated it closes it, when
/// the GPU no longer uses it.
public interface GpuMemory extends AutoCloseable {
    /// {@return its address on the GPU, a multiple of 4096}
    long va();

    /// {@return its size as asked for}
    long sizeBytes();

    /// {@return the memory as the processor sees it; valid until it is closed}
    MemorySegment host();

    /// Frees it; calling it twice does nothing.
    @Override
    void close();
}
