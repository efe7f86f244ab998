package dev.tenon.backend.cpu.vector.op;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.PartOp;
import dev.tenon.backend.cpu.vector.kernel.Exp;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.memory.Activations;

/// An op on single elements of one or two values.
///
/// @param function what to compute
/// @param a `[rows, width]`
/// @param b `[rows, width]`; the same as `a` for functions of one value
/// @param out `[rows, width]`
public record CpuElementwise(Function function, Activations a, Activations b, Activations out) implements CpuKernel {
    /// A function of ranges of arrays.
    public interface Function {
        /// Computes `out[i]` from `a[i]` and `b[i]` for `i` in `[from, to)`.
        void apply(float[] a, float[] b, float[] out, int from, int to);
    }

    private static final int GRAIN = 1024;

    /// {@return the sum}
    public static Function add() {
        return (a, b, out, from, to) -> {
            for (int i = from; i < to; i++) {
                out[i] = a[i] + b[i];
            }
        };
    }

    /// {@return the product}
    public static Function multiply() {
        return (a, b, out, from, to) -> {
            for (int i = from; i < to; i++) {
                out[i] = a[i] * b[i];
            }
        };
    }

    /// {@return the product with a constant}
    ///
    /// @param factor the constant
    public static Function scale(float factor) {
        return (a, b, out, from, to) -> {
            for (int i = from; i < to; i++) {
                out[i] = a[i] * factor;
            }
        };
    }

    /// {@return an activation function}
    ///
    /// @param activation which
    /// @param math computes it
    public static Function activate(Activation activation, ElementMath math) {
        return (a, b, out, from, to) -> math.activate(activation, a, out, from, to);
    }

    /// {@return the gate of gpt-oss}
    ///
    /// @param alpha slope of the sigmoid
    /// @param limit where both are clamped
    /// @param offset added to the second
    public static Function swigluOai(float alpha, float limit, float offset) {
        return (gate, up, out, from, to) -> {
            for (int i = from; i < to; i++) {
                float a = Math.min(gate[i], limit);
                float b = Math.max(-limit, Math.min(up[i], limit));
                out[i] = a / (Exp.exp(-alpha * a) + 1) * (b + offset);
            }
        };
    }

    /// {@return xIELU; computed in double, because what is below 0 is a difference}
    ///
    /// @param op its numbers
    public static Function xielu(PartOp.Xielu op) {
        return (a, b, out, from, to) -> {
            for (int i = from; i < to; i++) {
                double x = a[i];
                double bent = x > 0 ? op.alphaP() * x * x : op.alphaN() * (Math.exp(Math.min(x, op.eps())) - 1 - x);
                out[i] = (float) (bent + op.beta() * x);
            }
        };
    }

    /// {@return a soft cap}
    ///
    /// @param cap the cap
    public static Function softCap(float cap) {
        return (a, b, out, from, to) -> {
            for (int i = from; i < to; i++) {
                out[i] = softCap(a[i], cap);
            }
        };
    }

    /// {@return a value bent so that it stays within a cap; computed in double}
    ///
    /// @param x argument
    /// @param cap the cap
    public static float softCap(float x, float cap) {
        return (float) (cap * Math.tanh((double) x / cap));
    }

    @Override
    public boolean selected() {
        return out.selected;
    }

    @Override
    public void run(StepContext c, int phase, int thread) {
        int total = c.rows(out) * out.width;
        for (int i = c.claim(GRAIN); i < total; i = c.claim(GRAIN)) {
            function.apply(a.data, b.data, out.data, i, Math.min(i + GRAIN, total));
        }
    }
}
