package dev.tenon.platform.core.sampling;

import java.util.Arrays;

/// The last tokens of a sequence and how often each occurs among them.
///
/// A ring (bounded) or a growing list (all tokens), beside it an open-addressing table of counts.
/// Not safe for several threads.
final class RecentTokens {
    private static final int FREE = -1;

    private final int limit;
    private int[] ring;
    private int start;
    private int size;
    private int[] tableIds;
    private int[] tableCounts;
    private int used;

    /// Makes an empty history.
    ///
    /// @param lastN how many tokens to keep; 0 none, -1 all
    RecentTokens(int lastN) {
        limit = lastN < 0 ? Integer.MAX_VALUE : lastN;
        ring = new int[Math.min(limit, 64)];
        tableIds = new int[64];
        tableCounts = new int[64];
        Arrays.fill(tableIds, FREE);
    }

    /// Appends a token and forgets the oldest if there are too many.
    ///
    /// @param id token id; 0 or more
    void add(int id) {
        if (limit == 0) {
            return;
        }
        if (size == limit) {
            change(ring[start], -1);
            ring[start] = id;
            start = (start + 1) % size;
        } else {
            if (size == ring.length) {
                ring = Arrays.copyOf(ring, (int) Math.min(limit, size * 2L));
            }
            ring[size++] = id;
        }
        change(id, 1);
    }

    /// {@return number of tokens kept}
    int size() {
        return size;
    }

    /// {@return a token}
    ///
    /// @param index 0 for the last one, up to [#size()] - 1
    int fromEnd(int index) {
        int at = start + size - 1 - index;
        return ring[at < size ? at : at - size];
    }

    /// Visits each different token once.
    ///
    /// @param visitor gets id and number of occurrences
    void forEach(Visitor visitor) {
        for (int i = 0; i < tableIds.length; i++) {
            if (tableIds[i] != FREE && tableCounts[i] > 0) {
                visitor.visit(tableIds[i], tableCounts[i]);
            }
        }
    }

    /// Takes one token and its count.
    @FunctionalInterface
    interface Visitor {
        /// Visits a token.
        ///
        /// @param id token id
        /// @param count occurrences, above 0
        void visit(int id, int count);
    }

    private int slot(int id) {
        int mask = tableIds.length - 1;
        int at = (id * 0x9E3779B9 >>> 7) & mask;
        while (tableIds[at] != FREE && tableIds[at] != id) {
            at = (at + 1) & mask;
        }
        return at;
    }

    private void change(int id, int by) {
        int at = slot(id);
        if (tableIds[at] == FREE) {
            if (used * 2 >= tableIds.length) {
                rehash();
                at = slot(id);
            }
            tableIds[at] = id;
            tableCounts[at] = 0;
            used++;
        }
        tableCounts[at] += by;
    }

    private void rehash() {
        int live = 0;
        for (int count : tableCounts) {
            live += count > 0 ? 1 : 0;
        }
        int[] oldIds = tableIds;
        int[] oldCounts = tableCounts;
        int length = Math.max(64, Integer.highestOneBit(live + 1) * 8);
        tableIds = new int[length];
        tableCounts = new int[length];
        Arrays.fill(tableIds, FREE);
        used = 0;
        for (int i = 0; i < oldIds.length; i++) {
            if (oldIds[i] != FREE && oldCounts[i] > 0) {
                int at = slot(oldIds[i]);
                tableIds[at] = oldIds[i];
                tableCounts[at] = oldCounts[i];
                used++;
            }
        }
    }
}
