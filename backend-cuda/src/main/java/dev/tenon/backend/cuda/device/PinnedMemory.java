package dev.tenon.backend.cuda.device;

import java.lang.foreign.MemorySegment;

/// Host memory that the device can read and write directly. Closed by its owner, when no copy is
/// under way.
public final class PinnedMemory implements AutoCloseable {
    private final CudaContext context;
    private final MemorySegment memory;

    /// @param context the device's; entered by the calling thread
    /// @param bytes size, at least 1
    public PinnedMemory(CudaContext context, long bytes) {
        this.context = context;
        long address = context.binding().allocateHost(bytes);
        this.memory = MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    public MemorySegment memory() {
        return memory;
    }

    @Override
    public void close() {
        context.enter();
        context.binding().freeHost(memory.address());
    }
}
