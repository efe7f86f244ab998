package dev.tenon.backend.nv.tegra;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// System calls with their errors as exceptions. Safe for any thread.
final class TegraDriver {
    private static final Logger LOG = LoggerFactory.getLogger(TegraDriver.class);

    private final Syscalls calls;

    TegraDriver(Syscalls calls) {
        this.calls = calls;
    }

    int open(String path, int flags) {
        int fd = calls.open(path, flags | Linux.O_CLOEXEC);
        if (fd < 0) {
            String advice = -fd == Linux.EACCES || -fd == Linux.EPERM
                    ? "Give the user access: on Jetson Linux, the groups video and render."
                    : "This needs a Jetson Orin with Jetson Linux 36.";
            throw NvErrors.driver("open of " + path, -fd, advice);
        }
        return fd;
    }

    /// {@return the file descriptor that a driver has written into a record}
    int returnedFd(Record record, dev.tenon.backend.nv.tegra.abi.Struct.Field field) {
        int fd = record.getInt(field);
        if (fd < 0) {
            throw new BackendException(
                    NvErrors.BOARD, "the driver returned file descriptor " + fd + " in " + field + ".");
        }
        return fd;
    }

    /// Calls a driver with a struct.
    ///
    /// @param fd what
    /// @param request which request
    /// @param record its struct; filled by the call if the request says so
    /// @param what for messages: on what, for what
    void ioctl(int fd, Ioctl request, Record record, String what) {
        int result = tryIoctl(fd, request, record);
        if (result < 0) {
            throw NvErrors.driver(request + ", " + what + ",", -result, advice(-result));
        }
    }

    /// {@return what the driver returned, or -errno}
    int tryIoctl(int fd, Ioctl request, Record record) {
        if (record.struct().sizeBytes() != request.sizeBytes()) {
            throw new IllegalArgumentException(request + " has " + request.sizeBytes() + " bytes, " + record.struct()
                    + " " + record.struct().sizeBytes());
        }
        int result = calls.ioctl(fd, request.request(), record.address());
        while (result == -Linux.EINTR) {
            result = calls.ioctl(fd, request.request(), record.address());
        }
        if (!record.isIntact()) {
            throw new BackendException(
                    NvErrors.BOARD,
                    "The driver wrote outside of the struct of " + request
                            + ": its interface is not that of Jetson Linux 36.");
        }
        return result;
    }

    /// Calls a driver with a number instead of a struct; a failure is only logged, because this
    /// frees something.
    void release(int fd, Ioctl request, long argument, String what) {
        int result = calls.ioctl(fd, request.request(), argument);
        if (result < 0) {
            LOG.warn("{} of {} failed: {}", request, what, Linux.name(-result));
        }
    }

    private static String advice(int errno) {
        return switch (errno) {
            case Linux.ENOTTY ->
                "The driver knows no such request, or has another struct; this is for Jetson Linux 36.";
            case Linux.EMFILE -> "Raise the limit of open files (ulimit -n).";
            case Linux.ENOMEM -> "Close other programs that use the GPU, or take a smaller model or context.";
            default -> "";
        };
    }

    long mmap(long bytes, int fd, String what) {
        long address = calls.mmap(bytes, Linux.PROT_READ | Linux.PROT_WRITE, Linux.MAP_SHARED, fd, 0);
        if (address < 0) {
            throw NvErrors.driver("mmap of " + bytes + " bytes for " + what, (int) -address, advice((int) -address));
        }
        return address;
    }

    void munmap(long address, long bytes, String what) {
        int result = calls.munmap(address, bytes);
        if (result < 0) {
            LOG.warn("munmap of {} failed: {}", what, Linux.name(-result));
        }
    }

    void close(int fd, String what) {
        int result = calls.close(fd);
        if (result < 0) {
            LOG.warn("close of {} failed: {}", what, Linux.name(-result));
        }
    }

    void afterDoorbell() {
        calls.afterDoorbell();
    }
}
