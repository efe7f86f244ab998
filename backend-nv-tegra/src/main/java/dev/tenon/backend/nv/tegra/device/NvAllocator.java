package dev.tenon.backend.nv.tegra.device;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.backend.nv.tegra.gpu.GpuInterface;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// Memory that processor and GPU both see, so that every buffer has a host view and nothing is ever
/// staged. Safe for any thread.
///
/// Memory that was mapped from a file cannot be seen by the GPU, so that binding copies it, once.
final class NvAllocator implements Allocator {
    private final GpuInterface gpu;
    private final AtomicLong allocated = new AtomicLong();

    NvAllocator(GpuInterface gpu) {
        this.gpu = gpu;
    }

    @Override
    public Buffer allocate(long bytes, String purpose) {
        return allocate(bytes, MemoryKind.DATA, purpose);
    }

    /// {@return a new buffer; the caller closes it}
    ///
    /// @param bytes size
    /// @param kind who reads and writes it
    /// @param purpose what messages call it
    Buffer allocate(long bytes, MemoryKind kind, String purpose) {
        Buffer buffer = new Buffer(gpu.allocate(bytes, kind, purpose), allocated);
        allocated.addAndGet(bytes);
        return buffer;
    }

    @Override
    public Buffer bind(MemorySegment host, String purpose) {
        Buffer buffer = allocate(Math.max(1, host.byteSize()), purpose);
        buffer.write(0, host);
        return buffer;
    }

    @Override
    public MemoryUse use() {
        return new MemoryUse(allocated.get(), 0, 0);
    }

    /// A piece of memory. Reading and writing do not wait for the GPU: what a step uses is ready
    /// when the step has returned.
    static final class Buffer implements DeviceBuffer {
        private final GpuMemory memory;
        private final AtomicLong allocated;
        private final AtomicBoolean closed = new AtomicBoolean();

        private Buffer(GpuMemory memory, AtomicLong allocated) {
            this.memory = memory;
            this.allocated = allocated;
        }

        /// {@return the memory as the processor sees it}
        MemorySegment memory() {
            return memory.host();
        }

        /// {@return its address on the GPU}
        long va() {
            return memory.va();
        }

        @Override
        public long sizeBytes() {
            return memory.sizeBytes();
        }

        @Override
        public Optional<MemorySegment> host() {
            return Optional.of(memory.host());
        }

        @Override
        public void write(long offsetBytes, MemorySegment source) {
            Objects.checkFromIndexSize(offsetBytes, source.byteSize(), sizeBytes());
            MemorySegment.copy(source, 0, memory.host(), offsetBytes, source.byteSize());
        }

        @Override
        public void read(long offsetBytes, MemorySegment target) {
            Objects.checkFromIndexSize(offsetBytes, target.byteSize(), sizeBytes());
            MemorySegment.copy(memory.host(), offsetBytes, target, 0, target.byteSize());
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                allocated.addAndGet(-memory.sizeBytes());
                memory.close();
            }
        }
    }
}
