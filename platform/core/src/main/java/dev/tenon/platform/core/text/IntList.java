package dev.tenon.platform.core.text;

import java.util.Arrays;

/// A growing list of ints. Not safe for several threads.
final class IntList {
    private int[] values;
    private int size;

    IntList(int capacity) {
        values = new int[Math.max(4, capacity)];
    }

    void add(int value) {
        if (size == values.length) {
            values = Arrays.copyOf(values, size * 2);
        }
        values[size++] = value;
    }

    void addAll(int[] more) {
        if (size + more.length > values.length) {
            values = Arrays.copyOf(values, Math.max(size + more.length, size * 2));
        }
        System.arraycopy(more, 0, values, size, more.length);
        size += more.length;
    }

    int get(int index) {
        return values[index];
    }

    int size() {
        return size;
    }

    /// {@return a copy of the values from an index on}
    int[] copyFrom(int from) {
        return Arrays.copyOfRange(values, from, size);
    }

    int[] toArray() {
        return Arrays.copyOf(values, size);
    }
}
