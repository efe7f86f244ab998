package dev.tenon.platform.core.sampling;

import java.util.random.RandomGenerator;

/// Drops all but the least probable of the tokens whose probability reaches a threshold, as often as a probability
/// says.
///
/// @param probability how often
/// @param threshold what is probable enough; above 0.5 no two tokens are
/// @param random the sequence's own random numbers; one is used for each token
record XtcCut(float probability, float threshold, RandomGenerator random) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        if (random.nextDouble() >= probability || threshold > 0.5f) {
            return;
        }
        double sum = c.softmax();
        int last = -1;
        for (int i = 0; i < c.count; i++) {
            if (c.weights[i] / sum >= threshold && (last < 0 || c.isBetter(last, i))) {
                last = i;
            }
        }
        if (last < 0) {
            return;
        }
        int kept = c.ids[last];
        float least = c.logits[last];
        int n = 0;
        for (int i = 0; i < c.count; i++) {
            // Of those that reach the threshold, this one is the last in the order.
            if (c.logits[i] < least || c.logits[i] == least && c.ids[i] >= kept) {
                c.ids[n] = c.ids[i];
                c.logits[n++] = c.logits[i];
            }
        }
        c.edited();
        c.truncate(n);
    }
}
