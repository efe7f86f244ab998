package dev.tenon.platform.core.sampling;

/// Keeps tokens whose logits are at most n standard deviations of all of them below the best one.
///
/// @param n how many; 0 or less keeps all
record TopNSigma(float n) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        if (n <= 0) {
            return;
        }
        double sum = 0;
        for (int i = 0; i < c.count; i++) {
            sum += c.logits[i];
        }
        double mean = sum / c.count;
        double squares = 0;
        for (int i = 0; i < c.count; i++) {
            squares += (c.logits[i] - mean) * (c.logits[i] - mean);
        }
        c.keepFrom(c.logits[c.argMax()] - n * Math.sqrt(squares / c.count));
    }
}
