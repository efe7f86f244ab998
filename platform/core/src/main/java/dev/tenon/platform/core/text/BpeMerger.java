package dev.tenon.platform.core.text;

import java.util.Arrays;

/// Merges the symbols of a word: always the pair of neighbours with the lowest rank, the leftmost of equals.
///
/// Short words by scanning, long ones with a queue, in O(n log n). Reused from word to word by one thread.
final class BpeMerger {
    private static final int SHORT = 24;
    private static final int NONE = Integer.MAX_VALUE;

    private final MergeTable merges;
    private final LongHeap queue = new LongHeap();
    private int[] symbols = new int[64];
    private int[] ranks = new int[64]; // of the merge with the right neighbour, or NONE
    private int[] results = new int[64]; // of that merge
    private int[] next = new int[64];
    private int[] previous = new int[64];

    BpeMerger(MergeTable merges) {
        this.merges = merges;
    }

    /// Merges bytes.
    ///
    /// @param bytes the word
    /// @param n how many bytes it has, at least 1
    /// @return how many symbols are left; [#symbol(int)]
    int merge(byte[] bytes, int n) {
        reserve(n);
        for (int i = 0; i < n; i++) {
            symbols[i] = merges.byteSymbol(bytes[i]);
        }
        return n <= SHORT ? scan(n) : queue(n);
    }

    /// Merges symbols.
    ///
    /// @param word the symbols that the word begins as, at least 1
    /// @return how many symbols are left; [#symbol(int)]
    int merge(IntList word) {
        int n = word.size();
        reserve(n);
        for (int i = 0; i < n; i++) {
            symbols[i] = word.get(i);
        }
        return n <= SHORT ? scan(n) : queue(n);
    }

    private void reserve(int n) {
        if (symbols.length < n) {
            symbols = new int[n];
            ranks = new int[n];
            results = new int[n];
        }
    }

    /// {@return a symbol that is left}
    ///
    /// @param index 0 to the count that merging gave, exclusive
    int symbol(int index) {
        return symbols[index];
    }

    private int scan(int n) {
        int count = n;
        for (int i = 0; i + 1 < count; i++) {
            rank(i, i + 1);
        }
        ranks[count - 1] = NONE;
        while (true) {
            int best = -1;
            int least = NONE;
            for (int i = 0; i + 1 < count; i++) {
                if (ranks[i] < least) {
                    least = ranks[i];
                    best = i;
                }
            }
            if (best < 0) {
                return count;
            }
            symbols[best] = results[best];
            int moved = count - best - 2;
            System.arraycopy(symbols, best + 2, symbols, best + 1, moved);
            System.arraycopy(ranks, best + 2, ranks, best + 1, moved);
            System.arraycopy(results, best + 2, results, best + 1, moved);
            count--;
            if (best + 1 < count) {
                rank(best, best + 1);
            } else {
                ranks[best] = NONE;
            }
            if (best > 0) {
                rank(best - 1, best);
            }
        }
    }

    private int queue(int n) {
        if (next.length < n) {
            next = new int[n];
            previous = new int[n];
        }
        queue.clear();
        for (int i = 0; i < n; i++) {
            next[i] = i + 1;
            previous[i] = i - 1;
        }
        Arrays.fill(ranks, 0, n, NONE);
        for (int i = 0; i + 1 < n; i++) {
            enqueue(i, i + 1);
        }
        while (!queue.isEmpty()) {
            long first = queue.poll();
            int left = (int) first;
            if (ranks[left] != (int) (first >>> 32)) {
                continue; // merged meanwhile, or its neighbour was
            }
            int right = next[left];
            symbols[left] = results[left];
            next[left] = next[right];
            ranks[right] = NONE;
            ranks[left] = NONE;
            if (next[left] < n) {
                previous[next[left]] = left;
                enqueue(left, next[left]);
            }
            if (previous[left] >= 0) {
                enqueue(previous[left], left);
            }
        }
        int count = 0;
        for (int i = 0; i < n; i = next[i]) {
            symbols[count++] = symbols[i];
        }
        return count;
    }

    private void enqueue(int left, int right) {
        rank(left, right);
        if (ranks[left] != NONE) {
            queue.add((long) ranks[left] << 32 | left);
        }
    }

    private void rank(int left, int right) {
        long merge = merges.find(symbols[left], symbols[right]);
        ranks[left] = merge < 0 ? NONE : (int) (merge >>> 32);
        results[left] = (int) merge;
    }
}
