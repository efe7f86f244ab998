package dev.tenon.backend.nv.tegra.abi;

/// A request to a driver.
///
/// ```
/// bit 31 30 | 29      16 | 15   8 | 7  0
///     dir   | size       | magic  | nr      dir: 0 no struct, 1 to the kernel, 2 from it, 3 both
/// ```
///
/// @param name its name in the kernel's headers
/// @param direction see above
/// @param sizeBytes size of the argument's struct
/// @param magic letter of the kind of file: N nvmap, G ctrl, A address space, T time-slice group, H
///     channel
/// @param nr number within the kind
public record Ioctl(String name, int direction, int sizeBytes, char magic, int nr) {
    /// The struct is read by the kernel.
    public static final int WRITE = 1;
    /// The struct is filled by the kernel.
    public static final int READ = 2;

    /// Checks the ranges.
    public Ioctl {
        if (direction < 0 || direction > 3 || sizeBytes < 0 || sizeBytes >= 1 << 14 || nr < 0 || nr > 255) {
            throw new IllegalArgumentException(name + ": " + direction + ", " + sizeBytes + ", " + nr);
        }
    }

    /// {@return the request number, zero-extended}
    public long request() {
        return (long) direction << 30 | (long) sizeBytes << 16 | (long) magic << 8 | nr;
    }

    @Override
    public String toString() {
        return name + String.format(" (0x%08x)", request());
    }
}
