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
        int n = 0;
        for (int i = 0; i < c.count; i++) {
            if (c.logits[i] >= threshold) {
                c.ids[n] = c.ids[i];
                c.logits[n++] = c.logits[i];
            }
        }
        c.truncate(n);
    }
}
