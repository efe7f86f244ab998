package dev.tenon.platform.core.sampling;

/// Divides the logits by a temperature; 0 or less keeps only the best token.
///
/// @param temperature above 1 flattens, below 1 sharpens
record Temperature(float temperature) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        float top = c.logits[c.argMax()];
        if (temperature <= 0 || !Float.isFinite(top / temperature)) {
            c.keepOnly(c.argMax());
            return;
        }
        for (int i = 0; i < c.count; i++) {
            c.logits[i] = Math.max(c.logits[i] / temperature, -Float.MAX_VALUE);
        }
    }
}
