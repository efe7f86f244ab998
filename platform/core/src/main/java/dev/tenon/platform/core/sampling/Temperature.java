package dev.tenon.platform.core.sampling;

/// Divides the logits by a temperature; 0 or less keeps only the best token.
///
/// @param temperature above 1 flattens, below 1 sharpens
record Temperature(float temperature) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        scale(c, temperature);
    }

    /// Divides the logits by a temperature.
    ///
    /// @param c the candidates
    /// @param t temperature; 0 or less keeps only the best token
    static void scale(Candidates c, float t) {
        float top = c.logits[c.argMax()];
        if (t <= 0 || !Float.isFinite(top / t)) {
            c.keepOnly(c.argMax());
            return;
        }
        for (int i = 0; i < c.count; i++) {
            c.logits[i] = Math.max(c.logits[i] / t, -Float.MAX_VALUE);
        }
    }
}
