package dev.tenon.platform.core.sampling;

import java.util.random.RandomGenerator;

/// Draws one candidate by its probability; the last step of a chain. The candidates stay as they are.
final class Draw implements SamplingStep {
    private final RandomGenerator random;
    private int token;
    private double bits;

    /// Makes the step.
    ///
    /// @param random the sequence's own random numbers; one is used for each token
    Draw(RandomGenerator random) {
        this.random = random;
    }

    @Override
    public void apply(Candidates c) {
        double number = random.nextDouble();
        double sum = c.softmax();
        double left = number * sum;
        int drawn = c.argMax();
        for (int i = 0; i < c.count; i++) {
            left -= c.weights[i];
            if (left < 0) {
                drawn = i;
                break;
            }
        }
        token = c.ids[drawn];
        bits = Math.log(sum / c.weights[drawn]) / Math.log(2);
    }

    /// {@return the token that was drawn last}
    int token() {
        return token;
    }

    /// {@return by how many bits it surprised: the negative logarithm of its probability}
    double bits() {
        return bits;
    }
}
