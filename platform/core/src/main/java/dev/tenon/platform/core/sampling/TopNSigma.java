package dev.tenon.platform.core.sampling;

/// Keeps tokens within n standard deviations below the best logit (Tang et al. 2024).
///
/// @param n number of (population) standard deviations; 0 or less keeps all
record TopNSigma(float n) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        if (n <= 0 || c.count <= 1) {
            return;
        }
        double mean = 0;
        for (int i = 0; i < c.count; i++) {
            mean += c.logits[i];
        }
        mean /= c.count;
        double variance = 0;
        for (int i = 0; i < c.count; i++) {
            double d = c.logits[i] - mean;
            variance += d * d;
        }
        double threshold = c.logits[c.argMax()] - n * Math.sqrt(variance / c.count);
        int kept = 0;
        for (int i = 0; i < c.count; i++) {
            if (c.logits[i] >= threshold) {
                c.ids[kept] = c.ids[i];
                c.logits[kept++] = c.logits[i];
            }
        }
        c.truncate(kept);
    }
}
