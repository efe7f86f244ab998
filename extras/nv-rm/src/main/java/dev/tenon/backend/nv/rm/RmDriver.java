package dev.tenon.backend.nv.rm;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.abi.Struct;
import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.NvErrors;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Calls of the resource manager and of UVM with their errors as exceptions: errno, and the status
/// in the struct. Every call and its status is logged (debug). Safe for any thread.
final class RmDriver {
    private static final Logger LOG = LoggerFactory.getLogger(RmDriver.class);

    private final Syscalls calls;

    RmDriver(Syscalls calls) {
        this.calls = calls;
    }

    int open(String path) {
        int fd = calls.open(path, Linux.O_RDWR | Linux.O_CLOEXEC);
        LOG.debug("open {} = {}", path, fd);
        if (fd < 0) {
            throw NvErrors.driver(
                    "open of " + path, -fd, "This needs NVIDIA's driver of branch 580 and access to its nodes.");
        }
        return fd;
    }

    void close(int fd, String what) {
        int result = calls.close(fd);
        if (result < 0) {
            LOG.warn("close of {} failed: {}", what, Linux.name(-result));
        }
    }

    /// Calls the resource manager.
    ///
    /// @param fd what
    /// @param request which request
    /// @param record its struct
    /// @param status where the driver puts a status; null if the request has none
    /// @param what for messages
    void rm(int fd, Ioctl request, Record record, Struct.Field status, String what) {
        if (record.struct().sizeBytes() != request.sizeBytes()) {
            throw new IllegalArgumentException(request + " has " + request.sizeBytes() + " bytes, " + record.struct()
                    + " " + record.struct().sizeBytes());
        }
        call(fd, request.request(), request.toString(), record, status, what);
    }

    /// Calls UVM.
    ///
    /// @param fd what
    /// @param command which command
    /// @param record its struct
    /// @param what for messages
    void uvm(int fd, UvmAbi.Command command, Record record, String what) {
        if (record.struct() != command.struct()) {
            throw new IllegalArgumentException(command + " takes " + command.struct() + ", not " + record.struct());
        }
        call(fd, command.number(), command.toString(), record, command.status(), what);
    }

    private void call(int fd, long request, String name, Record record, Struct.Field status, String what) {
        int result = calls.ioctl(fd, request, record.address());
        while (result == -Linux.EINTR) {
            result = calls.ioctl(fd, request, record.address());
        }
        long code = status == null || result < 0 ? 0 : record.get(status);
        LOG.debug("{}, {}: {}, status 0x{}", name, what, result, Long.toHexString(code));
        if (!record.isIntact()) {
            throw new BackendException(
                    NvErrors.BOARD,
                    "The driver wrote outside of the struct of " + name + ": its interface is not that of branch 580.");
        }
        if (result < 0) {
            throw NvErrors.driver(name + ", " + what + ",", -result, "This was written for driver branch 580.");
        }
        if (code != 0) {
            throw RmStatus.error(name + ", " + what + ",", (int) code);
        }
    }

    /// Makes a call that gives something back; a failure is only logged.
    void release(Runnable call) {
        try {
            call.run();
        } catch (BackendException e) {
            LOG.warn("{}", e.getMessage());
        }
    }

    long mmap(long bytes, int protection, int fd, String what) {
        long address = calls.mmap(bytes, protection, Linux.MAP_SHARED, fd, 0);
        LOG.debug("mmap of {}, {} bytes: 0x{}", what, bytes, Long.toHexString(address));
        if (address < 0) {
            throw NvErrors.driver("mmap of " + bytes + " bytes for " + what, (int) -address, "");
        }
        return address;
    }

    void munmap(long address, long bytes, String what) {
        int result = calls.munmap(address, bytes);
        if (result < 0) {
            LOG.warn("munmap of {} failed: {}", what, Linux.name(-result));
        }
    }

    void afterDoorbell() {
        calls.afterDoorbell();
    }
}
