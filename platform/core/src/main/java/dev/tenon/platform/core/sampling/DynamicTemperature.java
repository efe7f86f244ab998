package dev.tenon.platform.core.sampling;

/// A temperature between `t - delta` and `t + delta`, higher where the model is less sure (by entropy).
///
/// `temperature = lo + (hi - lo) * (entropy / log n)^exponent`.
///
/// @param t middle temperature
/// @param delta half the range; 0 or less gives the plain temperature
/// @param exponent shape of the curve
record DynamicTemperature(float t, float delta, float exponent) implements SamplingStep {
    @Override
    public void apply(Candidates c) {
        if (delta <= 0) {
            Temperature.scale(c, t);
            return;
        }
        if (c.count <= 1) {
            return;
        }
        double sum = c.softmax();
        double entropy = 0;
        for (int i = 0; i < c.count; i++) {
            double p = c.weights[i] / sum;
            entropy -= p > 0 ? p * Math.log(p) : 0;
        }
        double lo = Math.max(0, t - delta);
        double hi = t + delta;
        double share = Math.max(0, entropy / Math.log(c.count));
        Temperature.scale(c, (float) (lo + (hi - lo) * Math.pow(share, exponent)));
    }
}
