package dev.tenon.backend.cpu.vector.memory;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.DeviceBuffer;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// Host memory as device memory: off-heap buffers, and book-keeping for the plans' arrays. Safe for any
/// thread.
public final class CpuAllocator implements Allocator {
    private static final int ALIGNMENT = 64;

    private final long limitBytes;
    private final AtomicLong allocated = new AtomicLong();
    private final AtomicLong bound = new AtomicLong();

    /// Creates an allocator with nothing in use.
    ///
    /// @param limitBytes memory of the machine; 0 when unknown
    public CpuAllocator(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    @Override
    public DeviceBuffer allocate(long bytes, String purpose) {
        if (bytes < 1) {
            throw new IllegalArgumentException(
                    "a buffer of " + bytes + " bytes for " + purpose + "; expected at least 1");
        }
        take(bytes, purpose);
        Arena arena = Arena.ofShared();
        try {
            return new Buffer(arena, arena.allocate(bytes, ALIGNMENT), bytes, allocated);
        } catch (OutOfMemoryError e) {
            arena.close();
            release(bytes);
            throw refusal(bytes, purpose);
        }
    }

    @Override
    public DeviceBuffer bind(MemorySegment host, String purpose) {
        bound.addAndGet(host.byteSize());
        return new Buffer(null, host, host.byteSize(), bound);
    }

    @Override
    public MemoryUse use() {
        return new MemoryUse(allocated.get(), bound.get(), limitBytes);
    }

    /// Sets memory aside that is allocated piece by piece, as it is needed.
    ///
    /// @param bytes the most that will be needed; counts as device memory from now on
    /// @param purpose what messages call it
    /// @return the memory, owned by the caller
    /// @throws OutOfResourcesException (`LIMIT-003`) if the machine has not that much
    public Reservation reserve(long bytes, String purpose) {
        take(bytes, purpose);
        return new Reservation(bytes, purpose);
    }

    /// Allocates an array that counts as device memory until [#release(long)].
    ///
    /// @param length elements
    /// @param purpose what messages call it
    /// @return zeroed array
    /// @throws OutOfResourcesException (`LIMIT-003`) if there is no room, or an array cannot be that long
    public float[] floats(long length, String purpose) {
        long bytes = Math.multiplyExact(length, (long) Float.BYTES);
        if (length > Integer.MAX_VALUE - 8) {
            throw refusal(bytes, purpose);
        }
        take(bytes, purpose);
        try {
            return new float[(int) length];
        } catch (OutOfMemoryError e) {
            release(bytes);
            throw refusal(bytes, purpose);
        }
    }

    /// Notes that a plan uses host memory in place, or no longer does.
    ///
    /// @param bytes how much; negative to release it
    public void bindBytes(long bytes) {
        bound.addAndGet(bytes);
    }

    /// Notes that memory is no longer in use.
    ///
    /// @param bytes how much
    public void release(long bytes) {
        allocated.addAndGet(-bytes);
    }

    private void take(long bytes, String purpose) {
        if (limitBytes > 0 && bytes > limitBytes) {
            throw refusal(bytes, purpose);
        }
        allocated.addAndGet(bytes);
    }

    private OutOfResourcesException refusal(long bytes, String purpose) {
        long used = allocated.get();
        return new OutOfResourcesException(
                ErrorCode.MEMORY,
                "no memory for " + purpose + ": asked for " + bytes + " bytes, " + used + " in use, the machine has "
                        + limitBytes + "; take a shorter context, fewer tokens a step, or a larger -Xmx",
                bytes,
                used,
                limitBytes);
    }

    /// Off-heap memory that is allocated piece by piece; [#close] frees all of it. Not safe for
    /// several threads.
    public final class Reservation implements AutoCloseable {
        private final Arena arena = Arena.ofShared();
        private final long sizeBytes;
        private final String purpose;
        private boolean closed;

        private Reservation(long sizeBytes, String purpose) {
            this.sizeBytes = sizeBytes;
            this.purpose = purpose;
        }

        /// {@return bytes set aside}
        public long sizeBytes() {
            return sizeBytes;
        }

        /// {@return a zeroed piece, aligned to 64 bytes}
        ///
        /// @param bytes its size
        /// @throws OutOfResourcesException (`LIMIT-003`) if the system refuses it
        public MemorySegment allocate(long bytes) {
            try {
                return arena.allocate(bytes, ALIGNMENT);
            } catch (OutOfMemoryError e) {
                throw refusal(bytes, purpose);
            }
        }

        /// {@return a zeroed array, kept alive by whoever holds it}
        ///
        /// @param length elements
        /// @throws OutOfResourcesException (`LIMIT-003`) if there is no room
        public float[] floats(int length) {
            try {
                return new float[length];
            } catch (OutOfMemoryError e) {
                throw refusal((long) length * Float.BYTES, purpose);
            }
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                arena.close();
                release(sizeBytes);
            }
        }
    }

    /// A buffer; `arena` is null for memory that is borrowed.
    private record Buffer(Arena arena, MemorySegment memory, long sizeBytes, AtomicLong counter, AtomicBoolean closed)
            implements DeviceBuffer {
        Buffer(Arena arena, MemorySegment memory, long sizeBytes, AtomicLong counter) {
            this(arena, memory, sizeBytes, counter, new AtomicBoolean());
        }

        @Override
        public Optional<MemorySegment> host() {
            return Optional.of(memory);
        }

        @Override
        public void write(long offsetBytes, MemorySegment source) {
            MemorySegment.copy(source, 0, memory, offsetBytes, source.byteSize());
        }

        @Override
        public void read(long offsetBytes, MemorySegment target) {
            MemorySegment.copy(memory, offsetBytes, target, 0, target.byteSize());
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                if (arena != null) {
                    arena.close();
                }
                counter.addAndGet(-sizeBytes);
            }
        }
    }
}
