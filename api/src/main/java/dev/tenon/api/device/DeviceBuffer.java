package dev.tenon.api.device;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// A piece of device memory. Whoever got it from the [Allocator] closes it.
@ConsumerType
public interface DeviceBuffer extends AutoCloseable {
    /// {@return size in bytes}
    long sizeBytes();

    /// {@return the memory as the host sees it, if it can; valid until the buffer is closed}
    Optional<MemorySegment> host();

    /// Copies from the host; returns when the source may be reused.
    ///
    /// @param offsetBytes where in the buffer
    /// @param source host memory; borrowed
    /// @throws IndexOutOfBoundsException if it does not fit
    void write(long offsetBytes, MemorySegment source);

    /// Copies to the host; returns when the data is there.
    ///
    /// @param offsetBytes where in the buffer
    /// @param target host memory; borrowed
    /// @throws IndexOutOfBoundsException if it does not fit
    void read(long offsetBytes, MemorySegment target);

    /// Frees the memory. Calling it twice does nothing.
    @Override
    void close();
}
