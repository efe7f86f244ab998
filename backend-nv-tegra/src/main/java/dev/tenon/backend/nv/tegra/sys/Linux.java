package dev.tenon.backend.nv.tegra.sys;

import java.util.Map;

/// Numbers of Linux that are the same on x86-64 and aarch64.
public final class Linux {
    /// Open for reading and writing.
    public static final int O_RDWR = 2;
    /// Writes reach the device before the call returns.
    public static final int O_SYNC = 0x101000;
    /// Not inherited by programs that this process starts.
    public static final int O_CLOEXEC = 0x80000;
    /// Pages can be read.
    public static final int PROT_READ = 1;
    /// Pages can be written.
    public static final int PROT_WRITE = 2;
    /// Stores are seen by all who map the same memory.
    public static final int MAP_SHARED = 1;
    /// Copy on write.
    public static final int MAP_PRIVATE = 2;
    /// Something can be read.
    public static final int POLLIN = 1;

    /// Operation not permitted.
    public static final int EPERM = 1;
    /// No such file.
    public static final int ENOENT = 2;
    /// Interrupted by a signal.
    public static final int EINTR = 4;
    /// Input/output error.
    public static final int EIO = 5;
    /// No such device or address.
    public static final int ENXIO = 6;
    /// Not an open file descriptor.
    public static final int EBADF = 9;
    /// Try again.
    public static final int EAGAIN = 11;
    /// Out of memory, or of addresses.
    public static final int ENOMEM = 12;
    /// Permission denied.
    public static final int EACCES = 13;
    /// A bad address.
    public static final int EFAULT = 14;
    /// Busy.
    public static final int EBUSY = 16;
    /// Exists already.
    public static final int EEXIST = 17;
    /// No such device.
    public static final int ENODEV = 19;
    /// Invalid argument.
    public static final int EINVAL = 22;
    /// Too many open files in this process.
    public static final int EMFILE = 24;
    /// No such request: wrong number, or a struct of another size.
    public static final int ENOTTY = 25;
    /// No space left; of subcontexts, for example.
    public static final int ENOSPC = 28;
    /// Timed out.
    public static final int ETIMEDOUT = 110;

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(EPERM, "EPERM"),
            Map.entry(ENOENT, "ENOENT"),
            Map.entry(EINTR, "EINTR"),
            Map.entry(EIO, "EIO"),
            Map.entry(ENXIO, "ENXIO"),
            Map.entry(EBADF, "EBADF"),
            Map.entry(EAGAIN, "EAGAIN"),
            Map.entry(ENOMEM, "ENOMEM"),
            Map.entry(EACCES, "EACCES"),
            Map.entry(EFAULT, "EFAULT"),
            Map.entry(EBUSY, "EBUSY"),
            Map.entry(EEXIST, "EEXIST"),
            Map.entry(ENODEV, "ENODEV"),
            Map.entry(EINVAL, "EINVAL"),
            Map.entry(EMFILE, "EMFILE"),
            Map.entry(ENOTTY, "ENOTTY"),
            Map.entry(ENOSPC, "ENOSPC"),
            Map.entry(ETIMEDOUT, "ETIMEDOUT"));

    private Linux() {}

    /// {@return an errno for people, such as `EINVAL (22)`}
    ///
    /// @param errno positive number
    public static String name(int errno) {
        return NAMES.getOrDefault(errno, "errno") + " (" + errno + ")";
    }
}
