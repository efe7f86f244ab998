package dev.tenon.platform.core.sampling;

/// Keeps the smallest set of best tokens whose probability reaches p (nucleus sampling, Holtzman et al.
/// 2020).
///
/// @param p probability to reach; 1 or more keeps all
record TopP(float p) implements SamplingStep {
    private static final int FIRST_PREFIX = 256;

    @Override
    public void apply(Candidates c) {
        if (p >= 1) {
            return;
        }
        double sum = c.softmax();
        double reached = 0;
        int n = 0;
        for (int prefix = Math.min(FIRST_PREFIX, c.count); ; prefix = (int) Math.min(c.count, prefix * 8L)) {
            c.sortTop(prefix);
            double max = c.logits[0];
            while (n < prefix) {
                reached += Math.exp(c.logits[n++] - max) / sum;
                if (reached >= p) {
                    c.truncate(n);
                    return;
                }
            }
            if (prefix == c.count) {
                return;
            }
        }
    }
}
