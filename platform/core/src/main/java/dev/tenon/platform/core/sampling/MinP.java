package dev.tenon.platform.core.sampling;

/// Drops tokens below a share of the best token's probability.
///
/// @param p the share; 0 or less keeps all
record MinP(float p) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        if (p <= 0) {
            return;
        }
        double threshold = c.logits[c.argMax()] + Math.log(p);
        if (p > 1) {
            c.keepOnly(c.argMax());
            return;
        }
        c.keepFrom(threshold);
    }
}
