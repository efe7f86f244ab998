package dev.tenon.platform.core.sampling;

import java.util.random.RandomGenerator;

/// Excludes top choices: with a chance, drops all but the last of the tokens that reach a probability.
///
/// @param chance probability that the step acts; 1 always
/// @param threshold probability that makes a token a top choice; above 0.5 switches the step off
/// @param minKeep do nothing if fewer than this many would be left
/// @param random source of the chance; the sequence's own
record Xtc(float chance, float threshold, int minKeep, RandomGenerator random) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        if (chance <= 0 || threshold > 0.5f || c.count < 2) {
            return;
        }
        if (chance < 1 && random.nextFloat() >= chance) {
            return;
        }
        c.sortTop(c.count);
        double sum = c.softmax();
        int reaching = 0;
        while (reaching < c.count && c.weights[reaching] / sum >= threshold) {
            reaching++;
        }
        int drop = reaching - 1;
        if (drop < 1 || c.count - drop < minKeep) {
            return;
        }
        int left = c.count - drop;
        System.arraycopy(c.ids, drop, c.ids, 0, left);
        System.arraycopy(c.logits, drop, c.logits, 0, left);
        c.count = left;
        c.sortedPrefix = left;
    }
}
