package dev.tenon.api.device;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/// Memory of a device. Safe for any thread.
@ConsumerType
public interface Allocator {
    /// Allocates zeroed memory. The caller closes the buffer.
    ///
    /// @param bytes size, at least 1
    /// @param purpose what messages and memory reports call it, such as `kv`
    /// @return the buffer
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-003`) with asked, used and limit
    DeviceBuffer allocate(long bytes, String purpose);

    /// Makes host memory readable for the device: the same memory where the device can read it
    /// (zero copy), a copy elsewhere.
    ///
    /// @param host read-only host memory that stays valid until the buffer is closed, such as mapped
    ///     weights
    /// @param purpose what messages and memory reports call it, such as a tensor's name
    /// @return the buffer; the caller closes it
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-003`) with asked, used and limit
    DeviceBuffer bind(MemorySegment host, String purpose);

    /// {@return what is in use now}
    MemoryUse use();
}
