package dev.tenon.platform.core.sampling;

import java.util.Arrays;
import java.util.List;

/// Don't-repeat-yourself: punishes the token that would lengthen a repetition of the latest tokens.
///
/// For every earlier occurrence of the current suffix, of length m >= allowed, the token after it
/// loses `multiplier * base^(m - allowed)`; the longest m counts. m never reaches over the latest
/// breaker sequence, and breakers of one token are not punished. The suffix lengths come from one
/// Z-function pass, so the work is linear.
final class Dry implements SamplingStep {
    private final RecentTokens recent;
    private final float multiplier;
    private final float base;
    private final int allowed;
    private final List<int[]> breakers;
    private int[] reversed = new int[0];
    private int[] z = new int[0];
    private int[] longest = new int[0];

    /// Makes the step.
    ///
    /// @param recent the sequence's recent tokens; owned by the caller, read at each call
    /// @param multiplier strength; 0 switches the step off
    /// @param base growth by each token of length
    /// @param allowed length from which a repetition is punished
    /// @param breakers token sequences that end a repetition; copied
    Dry(RecentTokens recent, float multiplier, float base, int allowed, List<int[]> breakers) {
        this.recent = recent;
        this.multiplier = multiplier;
        this.base = base;
        this.allowed = allowed;
        this.breakers = breakers.stream().map(int[]::clone).toList();
    }

    @Override
    public void apply(Candidates c) {
        int n = recent.size();
        if (multiplier == 0 || n <= allowed) {
            return;
        }
        load(n);
        int limit = tokensAfterBreaker(n);
        if (limit < allowed) {
            return;
        }
        zFunction(n);
        if (longest.length < c.ids.length) {
            longest = new int[c.ids.length];
        } else {
            Arrays.fill(longest, 0);
        }
        for (int back = 1; back < n; back++) {
            int length = Math.min(z[back], limit);
            int next = reversed[back - 1];
            if (length >= allowed && next < longest.length && length > longest[next]) {
                longest[next] = length;
            }
        }
        for (int i = 0; i < c.count; i++) {
            int length = longest[c.ids[i]];
            if (length >= Math.max(allowed, 1) && !isSingleBreaker(c.ids[i])) {
                double punishment = multiplier * Math.pow(base, length - allowed);
                c.logits[i] = Math.max((float) (c.logits[i] - punishment), -Float.MAX_VALUE);
            }
        }
        c.edited();
    }

    private void load(int n) {
        if (reversed.length < n) {
            reversed = new int[n * 2];
            z = new int[n * 2];
        }
        for (int i = 0; i < n; i++) {
            reversed[i] = recent.get(n - 1 - i);
        }
    }

    private int tokensAfterBreaker(int n) {
        for (int back = 0; back < n; back++) {
            int after = -1;
            for (int[] breaker : breakers) {
                int tail = breaker.length - 1;
                if (tail <= back && matches(breaker, back) && (after < 0 || back - tail < after)) {
                    after = back - tail;
                }
            }
            if (after >= 0) {
                return after;
            }
        }
        return n;
    }

    private boolean matches(int[] breaker, int back) {
        for (int i = 0; i < breaker.length; i++) {
            if (reversed[back - i] != breaker[i]) {
                return false;
            }
        }
        return true;
    }

    private void zFunction(int n) {
        int left = 0;
        int right = 0;
        for (int i = 1; i < n; i++) {
            int length = i < right ? Math.min(right - i, z[i - left]) : 0;
            while (i + length < n && reversed[length] == reversed[i + length]) {
                length++;
            }
            z[i] = length;
            if (i + length > right) {
                left = i;
                right = i + length;
            }
        }
    }

    private boolean isSingleBreaker(int id) {
        for (int[] breaker : breakers) {
            if (breaker.length == 1 && breaker[0] == id) {
                return true;
            }
        }
        return false;
    }
}
