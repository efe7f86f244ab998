package dev.tenon.platform.core.sampling;

import java.util.random.RandomGenerator;

/// Draws one candidate by its probability; the last step of a chain.
///
/// @param random the sequence's own random numbers; one is used for each token
record Draw(RandomGenerator random) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        double number = random.nextDouble();
        if (c.count == 1) {
            return;
        }
        double sum = c.softmax();
        double left = number * sum;
        int chosen = c.argMax();
        for (int i = 0; i < c.count; i++) {
            left -= c.weights[i];
            if (left < 0) {
                chosen = i;
                break;
            }
        }
        c.keepOnly(chosen);
    }
}
