package dev.tenon.backend.nv.tegra.sys;

import org.osgi.annotation.versioning.ConsumerType;

/// The few system calls through which the GPU of a Tegra is reached.
///
/// Every call that can fail returns its result, or the negative errno (`-22` for EINVAL): no second
/// call is needed to learn what went wrong, and nothing can overwrite it in between. Addresses are
/// plain numbers, as the kernel sees them. Safe for any thread.
@ConsumerType
public interface Syscalls {
    /// Opens a device node.
    ///
    /// @param path node, such as `/dev/nvmap`
    /// @param flags `O_...` of [Linux]
    /// @return file descriptor, or -errno
    int open(String path, int flags);

    /// Closes a file descriptor.
    ///
    /// @param fd file descriptor
    /// @return 0, or -errno
    int close(int fd);

    /// Calls a driver.
    ///
    /// @param fd file descriptor
    /// @param request request number, zero-extended: never negative
    /// @param argument address of the argument, or the argument itself where the request has no
    ///     struct
    /// @return what the driver returns, or -errno
    int ioctl(int fd, long request, long argument);

    /// Maps a file into this process, at an address that the kernel chooses.
    ///
    /// @param lengthBytes size
    /// @param protection `PROT_...` of [Linux]
    /// @param flags `MAP_...` of [Linux]; never MAP_FIXED, which could replace mappings of the JVM
    /// @param fd what to map
    /// @param offset where in it
    /// @return address, or -errno
    long mmap(long lengthBytes, int protection, int flags, int fd, long offset);

    /// Removes a mapping.
    ///
    /// @param address what [#mmap] returned
    /// @param lengthBytes its size
    /// @return 0, or -errno
    int munmap(long address, long lengthBytes);

    /// Waits for events of one file descriptor.
    ///
    /// @param fd file descriptor
    /// @param events `POLL...` bits
    /// @param timeoutMillis how long; 0 does not wait
    /// @return the events that happened, 0 after the timeout, or -errno
    int poll(int fd, int events, int timeoutMillis);

    /// Called after each store to a doorbell. Hardware sees the store by itself, so that Linux does
    /// nothing here; an emulated device works here if it has no thread of its own.
    default void afterDoorbell() {}
}
