package dev.tenon.backend.cpu.vector.expert;

import java.util.Arrays;

/// The pairs of a token and one of its experts in a step, in the order of experts, then of tokens. Pair `p` is
/// that of token `p / used`. One thread groups, then all may read.
final class ExpertGroups {
    private final int[] first;
    private final int[] next;
    private final int[] active;
    private final int[] pairs;
    private int activeCount;

    /// Makes room.
    ///
    /// @param experts most experts
    /// @param pairs most pairs
    ExpertGroups(int experts, int pairs) {
        this.first = new int[experts + 1];
        this.next = new int[experts];
        this.active = new int[experts];
        this.pairs = new int[pairs];
    }

    /// Groups the pairs of a step.
    ///
    /// @param chosen the expert of each pair, as whole numbers
    /// @param count number of pairs
    void group(float[] chosen, int count) {
        Arrays.fill(first, 0);
        for (int p = 0; p < count; p++) {
            first[(int) chosen[p] + 1]++;
        }
        activeCount = 0;
        for (int e = 0; e < next.length; e++) {
            if (first[e + 1] > 0) {
                active[activeCount++] = e;
            }
            next[e] = first[e];
            first[e + 1] += first[e];
        }
        for (int p = 0; p < count; p++) {
            pairs[next[(int) chosen[p]]++] = p;
        }
    }

    /// {@return number of experts that any token has}
    int activeCount() {
        return activeCount;
    }

    /// {@return an expert that any token has}
    ///
    /// @param index which, ascending
    int active(int index) {
        return active[index];
    }

    /// {@return number of pairs of the step}
    int pairCount() {
        return first[next.length];
    }

    /// {@return number of pairs of an expert}
    ///
    /// @param expert which
    int count(int expert) {
        return first[expert + 1] - first[expert];
    }

    /// {@return number of pairs of all experts before one}
    ///
    /// @param expert which
    int first(int expert) {
        return first[expert];
    }

    /// {@return a pair}
    ///
    /// @param slot its place in the order of experts
    int pair(int slot) {
        return pairs[slot];
    }
}
