package dev.tenon.backend.cpu.vector.kernel.elements;

import dev.tenon.api.graph.Activation;
import dev.tenon.backend.cpu.vector.kernel.Exp;
import dev.tenon.backend.cpu.vector.kernel.Strands;

/// Activations and norms over ranges of arrays. An element's bits depend neither on the range that it is
/// computed with nor on the vector width. Stateless and safe for any thread.
public interface ElementMath {
    /// Computes `out[i] = f(x[i])` for `i` in `[from, to)`.
    ///
    /// @param activation which function
    /// @param x arguments
    /// @param out results; may be `x`
    /// @param from first index
    /// @param to index after the last
    void activate(Activation activation, float[] x, float[] out, int from, int to);

    /// Computes `gate[i] = f(gate[i]) * up[i]` for `i` in `[from, to)`.
    ///
    /// @param activation which function
    /// @param gate arguments and results
    /// @param up factors
    /// @param from first index
    /// @param to index after the last
    void gate(Activation activation, float[] gate, float[] up, int from, int to);

    /// {@return the sum of squares of some elements: each added, fused, to strand `i % 32` in ascending
    /// order, the strands as a tree}
    ///
    /// @param x the elements
    /// @param from index of the first
    /// @param n how many
    float squares(float[] x, int from, int n);

    /// {@return the sum of squares of some elements, in strands where these are of one length; of odd lengths in
    ///     double, one after the other, which needs no memory for strands}
    ///
    /// @param x the elements
    /// @param from index of the first
    /// @param n how many
    default double sumOfSquares(float[] x, int from, int n) {
        if (n % Strands.COUNT == 0) {
            return squares(x, from, n);
        }
        double sum = 0;
        for (int i = from; i < from + n; i++) {
            sum += (double) x[i] * x[i];
        }
        return sum;
    }

    /// Computes `out[i] = x[i] * factor * weight[i]`.
    ///
    /// @param x source
    /// @param from its first index
    /// @param factor common factor
    /// @param weight `[n]`
    /// @param out target; may be `x`
    /// @param at its first index
    default void scale(float[] x, int from, float factor, float[] weight, float[] out, int at) {
        for (int i = 0; i < weight.length; i++) {
            out[at + i] = x[from + i] * factor * weight[i];
        }
    }

    /// Computes `out[at + i] += factor * x[from + i]` for `i` in `[0, n)`; products are rounded before they are added.
    ///
    /// @param out sums
    /// @param at index of the first sum
    /// @param x what is added
    /// @param from its first index
    /// @param n how many
    /// @param factor common factor
    default void addScaled(float[] out, int at, float[] x, int from, int n, float factor) {
        for (int i = 0; i < n; i++) {
            out[at + i] += factor * x[from + i];
        }
    }

    /// {@return the value of an activation function; relative error at most 2e-6, or absolute error 1e-12}
    ///
    /// SiLU is `x / (1 + e^-x)`; GELU in its tanh form is the same as `x / (1 + e^-2u)` with `u =
    /// sqrt(2 / pi) * (x + 0.044715 x^3)`.
    ///
    /// @param activation which
    /// @param x argument
    static float activate(Activation activation, float x) {
        return switch (activation) {
            case SILU -> x / (Exp.exp(-x) + 1);
            case GELU_TANH -> x / (Exp.exp(x * Math.fma(x * x, GELU_CUBE, GELU_LINEAR)) + 1);
            case RELU -> Math.max(x, 0);
            case RELU_SQUARED -> Math.max(x, 0) * Math.max(x, 0);
            case SIGMOID -> 1 / (Exp.exp(-x) + 1);
            case TANH -> (float) Math.tanh(x);
            case GELU_ERF -> (float) (0.5 * x * erfc(-x / Math.sqrt(2)));
        };
    }

    /// {@return `1 - erf(x)`; relative error at most 1.2e-7 (Press et al. 1992, section 6.2)}
    ///
    /// @param x argument
    private static double erfc(double x) {
        double t = 1 / (1 + 0.5 * Math.abs(x));
        double sum = 0;
        for (double coefficient : ERFC) {
            sum = sum * t + coefficient;
        }
        double tail = t * Math.exp(sum - x * x);
        return x >= 0 ? tail : 2 - tail;
    }

    /// Of the powers of `1 / (1 + x / 2)`, the highest first.
    double[] ERFC = {
        0.17087277,
        -0.82215223,
        1.48851587,
        -1.13520398,
        0.27886807,
        -0.18628806,
        0.09678418,
        0.37409196,
        1.00002368,
        -1.26551223
    };

    /// `-2 sqrt(2 / pi)`.
    float GELU_LINEAR = (float) (-2 * Math.sqrt(2 / Math.PI));
    /// `-2 sqrt(2 / pi) * 0.044715`.
    float GELU_CUBE = (float) (-2 * Math.sqrt(2 / Math.PI) * 0.044715);

    /// The plain Java form; the same bits as the vector form.
    ElementMath SCALAR = new ElementMath() {
        @Override
        public void activate(Activation activation, float[] x, float[] out, int from, int to) {
            for (int i = from; i < to; i++) {
                out[i] = ElementMath.activate(activation, x[i]);
            }
        }

        @Override
        public void gate(Activation activation, float[] gate, float[] up, int from, int to) {
            for (int i = from; i < to; i++) {
                gate[i] = ElementMath.activate(activation, gate[i]) * up[i];
            }
        }

        @Override
        public float squares(float[] x, int from, int n) {
            float[] strands = new float[Strands.COUNT];
            for (int i = 0; i < n; i++) {
                float value = x[from + i];
                strands[i % Strands.COUNT] = Math.fma(value, value, strands[i % Strands.COUNT]);
            }
            for (int distance = Strands.COUNT / 2; distance > 0; distance /= 2) {
                for (int i = 0; i < distance; i++) {
                    strands[i] += strands[i + distance];
                }
            }
            return strands[0];
        }
    };
}
