package dev.tenon.platform.core.sampling;

/// Keeps the k best tokens.
///
/// @param k how many; 0 or less keeps all
record TopK(int k) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        if (k > 0 && k < c.count) {
            c.keepTop(k);
        }
    }
}
