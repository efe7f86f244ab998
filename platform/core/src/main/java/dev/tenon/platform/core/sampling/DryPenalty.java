package dev.tenon.platform.core.sampling;

import dev.tenon.api.text.Dry;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Makes tokens less likely that go on with a repetition; see [Dry].
final class DryPenalty implements SamplingStep {
    private static final double GREATEST = Float.MAX_VALUE / 2;

    private final RecentTokens recent;
    private final Dry settings;
    /// Tokens that break repetitions by themselves.
    private final Set<Integer> unpenalised = new HashSet<>();
    /// Breakers of several tokens.
    private final List<List<Integer>> sequences;
    /// How much of the end of the sequence occurs before each of its tokens, the last one first.
    private int[] matched = new int[0];
    /// By token id, the longest match that it goes on with; 0 between calls.
    private int[] longest = new int[0];

    /// Makes the step.
    ///
    /// @param recent the sequence's recent tokens; owned by the caller, read at each call
    /// @param settings how much
    DryPenalty(RecentTokens recent, Dry settings) {
        this.recent = recent;
        this.settings = settings;
        sequences = settings.breakers().stream()
                .filter(breaker -> breaker.size() != 1 || !unpenalised.add(breaker.getFirst()))
                .toList();
    }

    @Override
    public void apply(Candidates c) {
        int n = recent.size();
        int most = n > settings.allowedLength() ? unbroken() : 0;
        if (settings.multiplier() == 0 || most < settings.allowedLength()) {
            return;
        }
        match(n);
        longest = longest.length == 0 ? new int[c.ids.length] : longest;
        for (int i = 1; i < n; i++) {
            int length = Math.min(matched[i], most);
            int next = recent.fromEnd(i - 1);
            if (length > longest[next] && length >= settings.allowedLength() && !unpenalised.contains(next)) {
                longest[next] = length;
            }
        }
        for (int i = 0; i < c.count; i++) {
            if (longest[c.ids[i]] > 0) {
                double penalty =
                        settings.multiplier() * Math.pow(settings.base(), longest[c.ids[i]] - settings.allowedLength());
                c.logits[i] = (float) Math.max(c.logits[i] - Math.min(penalty, GREATEST), -GREATEST);
            }
        }
        for (int i = 0; i < n; i++) {
            longest[recent.fromEnd(i)] = 0;
        }
        c.edited();
    }

    /// {@return how many tokens come after the last breaker}
    private int unbroken() {
        for (int after = 0; after < recent.size(); after++) {
            if (unpenalised.contains(recent.fromEnd(after))) {
                return after;
            }
            for (List<Integer> breaker : sequences) {
                if (endsWith(breaker, after)) {
                    return after;
                }
            }
        }
        return recent.size();
    }

    /// Whether a sequence stands before the last tokens.
    private boolean endsWith(List<Integer> tokens, int after) {
        int length = tokens.size();
        boolean same = after + length <= recent.size();
        for (int i = 0; same && i < length; i++) {
            same = recent.fromEnd(after + length - 1 - i) == tokens.get(i);
        }
        return same;
    }

    /// Finds the matches in one pass (the Z function of the reversed sequence).
    private void match(int n) {
        matched = matched.length < n ? new int[Math.max(n, 2 * matched.length)] : matched;
        Arrays.fill(matched, 0, n, 0);
        int begin = 0;
        int end = 0;
        for (int i = 1; i < n; i++) {
            int length = i < end ? Math.min(end - i, matched[i - begin]) : 0;
            while (i + length < n && recent.fromEnd(length) == recent.fromEnd(i + length)) {
                length++;
            }
            matched[i] = length;
            if (i + length > end) {
                begin = i;
                end = i + length;
            }
        }
    }
}
