package dev.tenon.backend.cpu.vector.math;

import dev.tenon.backend.cpu.vector.memory.Activations;

/// Layer norm of groups, in double precision.
///
/// @param weight `[group]`, not copied
/// @param bias `[group]`, or empty; not copied
/// @param eps added to the variance
public record LayerNormMath(float[] weight, float[] bias, float eps) implements RowNorm {
    @Override
    public int group() {
        return weight.length;
    }

    @Override
    public void groups(Activations x, int at, Activations out, int count) {
        for (int g = 0; g < count; g++) {
            group(x.data, at + g * weight.length, out.data);
        }
    }

    private void group(float[] x, int at, float[] out) {
        int n = weight.length;
        double mean = 0;
        for (int i = at; i < at + n; i++) {
            mean += x[i];
        }
        mean /= n;
        double variance = 0;
        for (int i = at; i < at + n; i++) {
            variance += (x[i] - mean) * (x[i] - mean);
        }
        double factor = 1 / Math.sqrt(variance / n + eps);
        for (int i = 0; i < n; i++) {
            double value = (x[at + i] - mean) * factor * weight[i];
            out[at + i] = (float) (bias.length > 0 ? value + bias[i] : value);
        }
    }
}
