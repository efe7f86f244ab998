package dev.tenon.backend.nv.tegra.command;

/// Where things are in the GPU's 40-bit address space.
///
/// Generic loads and stores to an address inside of a window go to local or shared memory instead,
/// so that no buffer may ever be there. The driver hands out addresses from `[start, end)` and
/// keeps the 4 GiB above `end` for itself; its own addresses are cut to 40 bits in places.
///
/// @param start first address for buffers, a multiple of 2 MiB
/// @param end end of the addresses for buffers, a multiple of 2 MiB
/// @param localWindow base of the local memory window, a multiple of 4 GiB
/// @param sharedWindow base of the shared memory window, a multiple of 4 GiB
/// @param reserveWindows whether the windows lie inside of `[start, end)` and have to be reserved
///     there
public record AddressLayout(long start, long end, long localWindow, long sharedWindow, boolean reserveWindows) {
    /// Bits of an address.
    public static final int ADDRESS_BITS = 40;
    /// Bytes reserved for each window if it has to be reserved.
    public static final long WINDOW_BYTES = 1L << 30;
    /// Bytes above [#end] that the driver uses itself.
    public static final long DRIVER_BYTES = 1L << 32;

    private static final long WINDOW_ALIGNMENT = 1L << 32;
    private static final long RANGE_ALIGNMENT = 1L << 21;

    /// The windows are above all buffers and above the driver's own area, which ends below 2^40.
    /// Derived from the driver's source.
    public static final AddressLayout BELOW_WINDOWS =
            new AddressLayout(0x200000L, 0xFC00000000L, 0xFD00000000L, 0xFE00000000L, false);
    /// Addresses up to 2^40 with the windows reserved; models have run with it. The driver's own
    /// area is beyond 2^40 but for its first 2 MiB, so that rings must stay small.
    public static final AddressLayout RESERVED_WINDOWS =
            new AddressLayout(0x200000L, 0xFFFFE00000L, 0xFD00000000L, 0xFE00000000L, true);

    /// Checks that the parts do not overlap.
    public AddressLayout {
        if (start <= 0 || start >= end || (start | end) % RANGE_ALIGNMENT != 0 || end > 1L << ADDRESS_BITS) {
            throw new IllegalArgumentException("addresses from 0x" + Long.toHexString(start) + " to 0x"
                    + Long.toHexString(end) + "; expected multiples of 2 MiB up to 2^40");
        }
        if (localWindow % WINDOW_ALIGNMENT != 0
                || sharedWindow % WINDOW_ALIGNMENT != 0
                || localWindow <= 0
                || sharedWindow <= 0
                || localWindow == sharedWindow) {
            throw new IllegalArgumentException("windows at 0x" + Long.toHexString(localWindow) + " and 0x"
                    + Long.toHexString(sharedWindow) + "; expected two multiples of 4 GiB");
        }
        boolean above = Math.min(localWindow, sharedWindow) >= end + DRIVER_BYTES;
        if (!reserveWindows && !above) {
            throw new IllegalArgumentException("the windows at 0x" + Long.toHexString(localWindow) + " and 0x"
                    + Long.toHexString(sharedWindow) + " are not above 0x" + Long.toHexString(end)
                    + " + 4 GiB; they have to be reserved");
        }
    }

    /// {@return the layout of a name}
    ///
    /// @param name `below-windows` (default) or `reserved-windows`
    public static AddressLayout of(String name) {
        return switch (name) {
            case "below-windows" -> BELOW_WINDOWS;
            case "reserved-windows" -> RESERVED_WINDOWS;
            default ->
                throw new IllegalArgumentException(
                        "address layout '" + name + "'; expected below-windows or reserved-windows");
        };
    }

    /// {@return whether memory at an address would be in reach of the GPU and outside of both
    /// windows}
    ///
    /// @param va address
    /// @param bytes size, at least 1
    public boolean allows(long va, long bytes) {
        return va >= start
                && bytes > 0
                && bytes <= end - start
                && va <= end - bytes
                && outside(va, bytes, localWindow)
                && outside(va, bytes, sharedWindow);
    }

    private static boolean outside(long va, long bytes, long window) {
        return va + bytes <= window || va >= window + WINDOW_BYTES;
    }
}
