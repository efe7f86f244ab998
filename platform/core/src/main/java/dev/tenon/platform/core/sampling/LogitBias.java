package dev.tenon.platform.core.sampling;

import java.util.Map;

/// Adds a fixed amount to the logits of given tokens; negative infinity bans a token.
final class LogitBias implements SamplingStep {
    private final int[] ids;
    private final float[] amounts;

    /// Makes the step.
    ///
    /// @param bias amount for each token id
    /// @param vocabularySize number of tokens
    /// @throws IllegalArgumentException if an id is outside the vocabulary, or an amount is NaN or
    ///     positive infinity
    LogitBias(Map<Integer, Float> bias, int vocabularySize) {
        ids = bias.keySet().stream().mapToInt(Integer::intValue).sorted().toArray();
        amounts = new float[ids.length];
        for (int i = 0; i < ids.length; i++) {
            amounts[i] = bias.get(ids[i]);
            if (ids[i] < 0 || ids[i] >= vocabularySize) {
                throw new IllegalArgumentException(
                        "logitBias names token " + ids[i] + "; the vocabulary has tokens 0 to " + (vocabularySize - 1));
            }
            if (!(amounts[i] < Float.POSITIVE_INFINITY)) {
                throw new IllegalArgumentException(
                        "logitBias of token " + ids[i] + " is " + amounts[i] + "; expected a number below infinity");
            }
        }
    }

    @Override
    public void apply(Candidates c) {
        boolean banned = false;
        for (int i = 0; i < ids.length; i++) {
            int at = c.indexOf(ids[i]);
            if (at >= 0) {
                c.logits[at] += amounts[i];
                banned |= c.logits[at] == Float.NEGATIVE_INFINITY;
            }
        }
        c.edited();
        if (banned) {
            removeBanned(c);
        }
    }

    private static void removeBanned(Candidates c) {
        int n = 0;
        for (int i = 0; i < c.count; i++) {
            if (c.logits[i] != Float.NEGATIVE_INFINITY) {
                c.ids[n] = c.ids[i];
                c.logits[n++] = c.logits[i];
            }
        }
        if (n == 0) {
            throw Candidates.noneLeft(c.count);
        }
        c.truncate(n);
    }
}
