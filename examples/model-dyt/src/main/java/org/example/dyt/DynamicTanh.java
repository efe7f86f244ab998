package org.example.dyt;

import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.List;

/// Dynamic tanh (Zhu et al. 2025): `out = weight * tanh(alpha * x) + bias`, in place of a norm. No ops of the api
/// express it, because alpha is a tensor.
///
/// @param x `[T, width]`
/// @param alpha `[1]`
/// @param weight `[width]`
/// @param bias `[width]`
/// @param out `[T, width]`
record DynamicTanh(Value x, Weight alpha, Weight weight, Weight bias, Value out) implements ReferenceOp {
    static final String KIND = "example.dynamic_tanh";

    /// Checks the widths.
    DynamicTanh {
        int width = out.width();
        if (x.width() != width || alpha.elements() != 1 || weight.elements() != width || bias.elements() != width) {
            throw new IllegalArgumentException("op " + KIND + " -> " + out + " has x " + x + ", alpha " + alpha
                    + ", weight " + weight + " and bias " + bias + "; expected the same width, and one alpha");
        }
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public List<Value> inputs() {
        return List.of(x);
    }

    @Override
    public List<Value> outputs() {
        return List.of(out);
    }

    @Override
    public List<Weight> weights() {
        return List.of(alpha, weight, bias);
    }

    @Override
    public double[][] evaluate(double[][] inputs, float[][] weights) {
        double[] row = new double[out.width()];
        for (int i = 0; i < row.length; i++) {
            row[i] = weights[1][i] * Math.tanh(weights[0][0] * inputs[0][i]) + weights[2][i];
        }
        return new double[][] {row};
    }
}
