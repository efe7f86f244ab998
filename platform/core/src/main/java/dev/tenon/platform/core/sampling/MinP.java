package dev.tenon.platform.core.sampling;

/// Drops tokens below a share of the best token's probability.
///
/// @param p the share; 0 or less keeps all
/// @param minKeep keep at least this many
record MinP(float p, int minKeep) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        if (p <= 0) {
            return;
        }
        double threshold = c.logits[c.argMax()] + Math.log(p);
        int passing = 0;
        for (int i = 0; i < c.count; i++) {
            passing += c.logits[i] >= threshold ? 1 : 0;
        }
        int keep = Math.min(c.count, Math.max(Math.max(passing, minKeep), 1));
        if (passing < keep) {
            c.keepTop(keep);
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
