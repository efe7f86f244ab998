package dev.tenon.platform.core.steps;

import java.util.Arrays;

/// The window pages that a sequence has: of its pages some that follow each other, up to where it has run or is about
/// to. Changed by [WindowPool].
final class PageWindow {
    private int[] table = new int[4];
    private int from;
    private int end;

    /// {@return the pages by their place in the sequence; entries before [#from()] are any}
    int[] table() {
        return table;
    }

    /// {@return the place of the first one}
    int from() {
        return from;
    }

    /// {@return the place after the last one}
    int end() {
        return end;
    }

    boolean has(int place) {
        return place >= from && place < end;
    }

    void set(int place, int page) {
        table[place] = page;
    }

    void add(int page) {
        if (end == table.length) {
            table = Arrays.copyOf(table, 2 * end);
        }
        table[end++] = page;
    }

    /// Drops those before a place.
    void dropBefore(int place) {
        from = Math.max(from, Math.min(place, end));
    }

    /// Drops those from a place on.
    void dropFrom(int place) {
        end = Math.min(end, place);
        from = Math.min(from, end);
    }

    /// Drops all; the next one has a place.
    void restart(int place) {
        from = place;
        end = place;
        if (place > table.length) {
            table = Arrays.copyOf(table, 2 * place);
        }
    }

    /// Forgets all pages and their numbers: those of another placement may be fewer.
    void clear() {
        restart(0);
        Arrays.fill(table, 0);
    }
}
