package dev.tenon.platform.core.sampling;

/// Divides the logits by a temperature between two, the higher the more even the probabilities are.
///
/// @param lowest for one certain token
/// @param highest for equal ones
/// @param exponent of the share that the entropy has of the greatest one
record EntropyTemperature(float lowest, float highest, float exponent) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        if (c.count == 1) {
            return;
        }
        double sum = c.softmax();
        double entropy = 0;
        for (int i = 0; i < c.count; i++) {
            double p = c.weights[i] / sum;
            entropy -= p > 0 ? p * Math.log(p) : 0;
        }
        double share = Math.pow(Math.max(0, entropy / Math.log(c.count)), exponent);
        new Temperature((float) (lowest + (highest - lowest) * share)).apply(c);
    }
}
