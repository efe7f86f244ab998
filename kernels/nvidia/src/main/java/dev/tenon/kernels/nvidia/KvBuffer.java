package dev.tenon.kernels.nvidia;

import dev.tenon.api.device.PlanOptions.KvType;

/// Keys or values of a layer: `[page][kvHead][64][row]`.
///
/// @param buffer its memory
/// @param pageBytes bytes of a page in it
public record KvBuffer(BufferSpec buffer, long pageBytes) {
    /// Positions in a page.
    public static final int TOKENS = 64;

    private static final int ALIGNMENT = 16;
    private static final int BLOCK = 32;

    /// {@return bytes of a head of one position}
    ///
    /// @param type element type
    /// @param length elements of the head
    public static long rowBytes(KvType type, int length) {
        long padded = up(length, ALIGNMENT);
        return switch (type) {
            case F32 -> padded * 4;
            case F16 -> padded * 2;
            case Q8_0 -> {
                long blocks = up(length, BLOCK) / BLOCK;
                yield blocks * BLOCK + 2 * blocks;
            }
        };
    }

    private static long up(long n, int multiple) {
        return (n + multiple - 1) / multiple * multiple;
    }
}
