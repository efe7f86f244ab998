package dev.tenon.backend.nv.rm;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import java.util.Map;
import java.util.TreeMap;

/// The addresses that this process gives to its memory on the GPU. Safe for any thread.
final class Addresses {
    /// Everything starts at a multiple of this, so that the GPU's largest pages can be used.
    static final long UNIT = 2L << 20;

    private final TreeMap<Long, Long> free = new TreeMap<>();

    /// @param start first address, a multiple of [#UNIT]
    /// @param end end of the addresses
    Addresses(long start, long end) {
        free.put(start, end - start);
    }

    /// {@return the first address of a range that nobody has}
    ///
    /// @param bytes its size
    /// @throws OutOfResourcesException (`LIMIT-003`) if there is none
    synchronized long take(long bytes) {
        long size = round(bytes);
        for (Map.Entry<Long, Long> range : free.entrySet()) {
            if (range.getValue() >= size) {
                long start = range.getKey();
                free.remove(start);
                if (range.getValue() > size) {
                    free.put(start + size, range.getValue() - size);
                }
                return start;
            }
        }
        throw new OutOfResourcesException(
                ErrorCode.MEMORY, "No " + size + " bytes of addresses on the GPU are free.", size, 0, 0);
    }

    /// Gives a range back.
    ///
    /// @param start what [#take] returned
    /// @param bytes what it was called with
    synchronized void give(long start, long bytes) {
        long from = start;
        long size = round(bytes);
        Map.Entry<Long, Long> before = free.lowerEntry(start);
        if (before != null && before.getKey() + before.getValue() == start) {
            from = before.getKey();
            size += before.getValue();
        }
        Long after = free.remove(start + round(bytes));
        free.put(from, size + (after == null ? 0 : after));
    }

    private static long round(long bytes) {
        return (bytes + UNIT - 1) / UNIT * UNIT;
    }
}
