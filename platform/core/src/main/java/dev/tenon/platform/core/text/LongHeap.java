package dev.tenon.platform.core.text;

import java.util.Arrays;

/// A binary min-heap of longs: the queue of merges, with the priority in the upper and the position
/// in the lower half. Not safe for several threads.
final class LongHeap {
    private long[] heap = new long[64];
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    void clear() {
        size = 0;
    }

    void add(long value) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        int at = size++;
        while (at > 0) {
            int parent = (at - 1) >>> 1;
            if (heap[parent] <= value) {
                break;
            }
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = value;
    }

    /// Removes the smallest value; the heap must not be empty.
    ///
    /// @return the smallest value
    long poll() {
        long least = heap[0];
        long last = heap[--size];
        int at = 0;
        for (int child = 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && heap[child + 1] < heap[child]) {
                child++;
            }
            if (last <= heap[child]) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = last;
        return least;
    }
}
