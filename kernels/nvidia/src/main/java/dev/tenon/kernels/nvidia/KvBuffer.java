package dev.tenon.kernels.nvidia;

import dev.tenon.api.device.PlanOptions.KvType;

/// Memory of sequences that is copied in pieces of one size: keys or values of a layer in pages,
/// `[page][kvHead][64][row]`, or the states of an op in slots; or rows of a value.
///
/// @param buffer its memory
/// @param pageBytes bytes of a page, slot or row in it
public record KvBuffer(BufferSpec buffer, long pageBytes) {
    /// Positions in a page.
    public static final int TOKENS = 64;

    private static final int ALIGNMENT = 16;
    private static final int BLOCK = 32;

    /// {@return bytes of a head of one position, as kernels have them (`kv_cache.cuh`)}
    ///
    /// @param type element type
    /// @param length elements of the head
    public static long rowBytes(KvType type, int length) {
        return switch (type) {
            case F32 -> up(4L * length, ALIGNMENT);
            case F16 -> up(2L * length, ALIGNMENT);
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
