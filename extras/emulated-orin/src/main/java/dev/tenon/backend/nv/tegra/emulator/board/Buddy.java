package dev.tenon.backend.nv.tegra.emulator.board;

import java.util.TreeMap;
import java.util.TreeSet;

/// How nvgpu hands out addresses: a buddy allocator with pages of 4 KiB as leaves.
///
/// A size is rounded up to a power of two. The range is cut into blocks from its start on, each the
/// largest that is aligned (counted from the start of the range) and fits. A request takes the
/// smallest free block that suffices and keeps its lower half until it fits. This gives every
/// address that is in the logs of a board.
public final class Buddy {
    private static final int PAGE_SHIFT = 12;

    private final long base;
    private final long bytes;
    private final int[] initial;
    private final TreeSet<Long>[] free;
    private final TreeMap<Long, Integer> taken = new TreeMap<>();

    /// @param base first address
    /// @param end end of the range
    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type cannot be made otherwise
    Buddy(long base, long end) {
        this.base = base;
        this.bytes = end - base;
        free = new TreeSet[64];
        initial = new int[64];
        for (int order = 0; order < 64; order++) {
            free[order] = new TreeSet<>();
        }
        for (long at = 0; at < bytes; ) {
            int order = at == 0 ? 62 : Long.numberOfTrailingZeros(at);
            while (1L << order > bytes - at) {
                order--;
            }
            free[order].add(at);
            initial[order] = initial[order] + 1;
            at += 1L << order;
        }
    }

    static int order(long size) {
        return Math.max(PAGE_SHIFT, 64 - Long.numberOfLeadingZeros(size - 1));
    }

    /// {@return an address, or -1 if there is none}
    long allocate(long size) {
        int order = order(size);
        int found = order;
        while (found < 63 && free[found].isEmpty()) {
            found++;
        }
        if (free[found].isEmpty()) {
            return -1;
        }
        long at = free[found].pollFirst();
        while (found > order) {
            found--;
            free[found].add(at + (1L << found));
        }
        taken.put(at, order);
        return base + at;
    }

    /// Takes a range of which every page must be free.
    ///
    /// @return whether that was so
    boolean allocateFixed(long address, long size) {
        long at = address - base;
        if (at < 0 || size <= 0 || at % (1L << PAGE_SHIFT) != 0 || size > bytes || at > bytes - size) {
            return false;
        }
        for (long piece = at; piece < at + size; ) {
            if (holder(piece) < 0) {
                return false;
            }
            int order = holder(piece);
            piece = (piece >>> order << order) + (1L << order);
        }
        for (long piece = at; piece < at + size; ) {
            int order = piece == 0 ? 62 : Long.numberOfTrailingZeros(piece);
            while (1L << order > at + size - piece || order > holder(piece)) {
                order--;
            }
            carve(piece, order);
            piece += 1L << order;
        }
        return true;
    }

    /// {@return the order of the free block that holds an offset, or -1}
    private int holder(long at) {
        for (int order = PAGE_SHIFT; order < 63; order++) {
            if (free[order].contains(at >>> order << order)) {
                return order;
            }
        }
        return -1;
    }

    private void carve(long at, int order) {
        int found = holder(at);
        long block = at >>> found << found;
        free[found].remove(block);
        while (found > order) {
            found--;
            long half = 1L << found;
            boolean upper = at >= block + half;
            free[found].add(upper ? block : block + half);
            block = upper ? block + half : block;
        }
        taken.put(at, order);
    }

    /// Releases what [#allocate] returned.
    void free(long address) {
        long at = address - base;
        Integer order = taken.remove(at);
        if (order == null) {
            throw new IllegalStateException("free of 0x" + Long.toHexString(address));
        }
        merge(at, order);
    }

    /// Releases what [#allocateFixed] took.
    void freeFixed(long address, long size) {
        for (long at = address - base; at < address - base + size; ) {
            int order = taken.get(at);
            free(base + at);
            at += 1L << order;
        }
    }

    private void merge(long start, int startOrder) {
        long at = start;
        int order = startOrder;
        while (true) {
            long buddy = at ^ 1L << order;
            // A block that the range was cut into at first has no buddy inside of the range.
            if (order >= 62 || buddy + (1L << order) > bytes || !free[order].contains(buddy)) {
                free[order].add(at);
                return;
            }
            free[order].remove(buddy);
            at = Math.min(at, buddy);
            order++;
        }
    }

    /// {@return whether everything has been released}
    boolean isEmpty() {
        if (!taken.isEmpty()) {
            return false;
        }
        for (int order = 0; order < 64; order++) {
            if (free[order].size() != initial[order]) {
                return false;
            }
        }
        return true;
    }
}
