package dev.tenon.backend.cpu.vector.memory;

import dev.tenon.api.device.DeviceBuffer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/// What a plan takes of the device's memory, and what else it has to close: all of it is released by
/// [#close], the last first. Not safe for several threads.
public final class PlanMemory implements AutoCloseable {
    private final CpuAllocator allocator;
    private final Deque<Runnable> closing = new ArrayDeque<>();
    private long arrayBytes;
    private long bufferBytes;
    private long boundBytes;

    /// Creates it with nothing in use.
    ///
    /// @param allocator gives the memory
    public PlanMemory(CpuAllocator allocator) {
        this.allocator = allocator;
    }

    /// {@return the device's memory, for what counts by itself and is given to [#onClose]}
    public CpuAllocator allocator() {
        return allocator;
    }

    /// {@return a zeroed array}
    ///
    /// @param length elements
    /// @param purpose what messages call it
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-003`) if there is no room, or an array
    ///     cannot be that long
    public float[] floats(long length, String purpose) {
        float[] array = allocator.floats(length, purpose);
        arrayBytes += length * Float.BYTES;
        return array;
    }

    /// Releases an array before the plan closes.
    ///
    /// @param array of [#floats]; the caller forgets it
    public void release(float[] array) {
        long bytes = (long) array.length * Float.BYTES;
        allocator.release(bytes);
        arrayBytes -= bytes;
    }

    /// {@return zeroed off-heap memory, aligned to 64 bytes, alive until [#close]}
    ///
    /// @param bytes its size
    /// @param purpose what messages call it
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-003`) if there is none
    public MemorySegment segment(long bytes, String purpose) {
        DeviceBuffer buffer = allocator.allocate(bytes, purpose);
        closing.push(buffer::close);
        bufferBytes += bytes;
        return buffer.host().orElseThrow();
    }

    /// Notes that the plan uses host memory in place.
    ///
    /// @param bytes how much
    public void bind(long bytes) {
        allocator.bindBytes(bytes);
        boundBytes += bytes;
    }

    /// Has something closed with this memory, before what was taken earlier.
    ///
    /// @param close closes it; called once
    public void onClose(Runnable close) {
        closing.push(close);
    }

    /// {@return bytes of arrays and segments}
    public long allocatedBytes() {
        return arrayBytes + bufferBytes;
    }

    /// {@return bytes that are used in place}
    public long boundBytes() {
        return boundBytes;
    }

    /// Releases everything. Calling it twice does nothing.
    @Override
    public void close() {
        while (!closing.isEmpty()) {
            closing.pop().run();
        }
        allocator.release(arrayBytes);
        allocator.bindBytes(-boundBytes);
        arrayBytes = 0;
        boundBytes = 0;
    }
}
