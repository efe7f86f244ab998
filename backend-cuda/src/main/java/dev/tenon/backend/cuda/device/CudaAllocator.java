package dev.tenon.backend.cuda.device;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.binding.CudaHandles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// Memory of a GPU. Safe for any thread.
public final class CudaAllocator implements Allocator {
    private final CudaContext context;
    private final long limitBytes;
    private final AtomicLong allocated = new AtomicLong();

    /// @param context the device's
    /// @param limitBytes memory of the device
    public CudaAllocator(CudaContext context, long limitBytes) {
        this.context = context;
        this.limitBytes = limitBytes;
    }

    @Override
    public DeviceBuffer allocate(long bytes, String purpose) {
        return allocateZeroed(bytes, purpose);
    }

    @Override
    public DeviceBuffer bind(MemorySegment host, String purpose) {
        Buffer buffer = allocateRaw(Math.max(1, host.byteSize()), purpose);
        boolean done = false;
        try {
            buffer.write(0, host);
            done = true;
            return buffer;
        } finally {
            if (!done) {
                buffer.close();
            }
        }
    }

    @Override
    public MemoryUse use() {
        return new MemoryUse(allocated.get(), 0, limitBytes);
    }

    /// {@return zeroed memory; the caller closes it}
    public Buffer allocateZeroed(long bytes, String purpose) {
        Buffer buffer = allocateRaw(bytes, purpose);
        context.binding().fill(buffer.address, (byte) 0, bytes, context.stream());
        context.synchronize();
        return buffer;
    }

    /// {@return memory that holds anything; the caller closes it}
    ///
    /// @throws OutOfResourcesException (`LIMIT-003`) with asked, used and limit
    public Buffer allocateRaw(long bytes, String purpose) {
        if (bytes < 1) {
            throw new IllegalArgumentException(
                    "a buffer of " + bytes + " bytes for " + purpose + "; expected at least 1");
        }
        context.enter();
        if (bytes > limitBytes) {
            throw refusal(bytes, purpose);
        }
        try {
            Buffer buffer = new Buffer(context.binding().allocate(bytes), bytes);
            allocated.addAndGet(bytes);
            return buffer;
        } catch (BackendException e) {
            throw e.nativeCode() == CudaBinding.OUT_OF_MEMORY ? refusal(bytes, purpose) : e;
        }
    }

    private OutOfResourcesException refusal(long bytes, String purpose) {
        long used = limitBytes - freeBytes();
        return new OutOfResourcesException(
                ErrorCode.MEMORY,
                "no device memory for " + purpose + ": asked for " + bytes + " bytes, " + used + " in use ("
                        + allocated.get() + " by this process's models on it), the device has " + limitBytes
                        + "; take a shorter context (-c), fewer sequences, a smaller cache type or another device",
                bytes,
                used,
                limitBytes);
    }

    /// {@return free bytes as the driver counts them}
    public long freeBytes() {
        context.enter();
        return context.binding().freeMemory();
    }

    /// A piece of device memory.
    public final class Buffer implements DeviceBuffer, CudaHandles.Addressed {
        private final long address;
        private final long sizeBytes;
        private final AtomicBoolean closed = new AtomicBoolean();

        private Buffer(long address, long sizeBytes) {
            this.address = address;
            this.sizeBytes = sizeBytes;
        }

        @Override
        public long address() {
            return address;
        }

        @Override
        public long sizeBytes() {
            return sizeBytes;
        }

        @Override
        public Optional<MemorySegment> host() {
            return Optional.empty();
        }

        @Override
        public void write(long offsetBytes, MemorySegment source) {
            Objects.checkFromIndexSize(offsetBytes, source.byteSize(), sizeBytes);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment plain = source;
                if (!source.isNative()) {
                    plain = arena.allocate(Math.max(1, source.byteSize())).copyFrom(source);
                }
                context.enter();
                context.binding()
                        .copyToDevice(address + offsetBytes, plain.address(), source.byteSize(), context.stream());
                context.synchronize();
            }
        }

        @Override
        public void read(long offsetBytes, MemorySegment target) {
            Objects.checkFromIndexSize(offsetBytes, target.byteSize(), sizeBytes);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment plain = target.isNative() ? target : arena.allocate(Math.max(1, target.byteSize()));
                context.enter();
                context.binding()
                        .copyToHost(plain.address(), address + offsetBytes, target.byteSize(), context.stream());
                context.synchronize();
                if (!target.isNative()) {
                    target.copyFrom(plain.asSlice(0, target.byteSize()));
                }
            }
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                context.enter();
                context.binding().free(address);
                allocated.addAndGet(-sizeBytes);
            }
        }
    }
}
