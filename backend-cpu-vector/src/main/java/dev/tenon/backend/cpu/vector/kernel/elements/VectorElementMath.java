package dev.tenon.backend.cpu.vector.kernel.elements;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import dev.tenon.api.kernel.cpu.ForceInline;
import dev.tenon.backend.cpu.vector.kernel.Strands;
import dev.tenon.backend.cpu.vector.kernel.VectorExp;
import jdk.incubator.vector.FloatVector;

/// Activations and norms with the Vector API.
@CompileThresholdScaling(0.03)
public final class VectorElementMath implements ElementMath {
    @Override
    public void activate(Activation activation, float[] x, float[] out, int from, int to) {
        if (!known(activation)) {
            SCALAR.activate(activation, x, out, from, to);
            return;
        }
        int i = from;
        for (; i + LANES <= to; i += LANES) {
            value(activation, FloatVector.fromArray(F, x, i)).intoArray(out, i);
        }
        for (; i < to; i++) {
            out[i] = ElementMath.activate(activation, x[i]);
        }
    }

    @Override
    public void gate(Activation activation, float[] gate, float[] up, int from, int to) {
        if (!known(activation)) {
            SCALAR.gate(activation, gate, up, from, to);
            return;
        }
        int i = from;
        for (; i + LANES <= to; i += LANES) {
            value(activation, FloatVector.fromArray(F, gate, i))
                    .mul(FloatVector.fromArray(F, up, i))
                    .intoArray(gate, i);
        }
        for (; i < to; i++) {
            gate[i] = ElementMath.activate(activation, gate[i]) * up[i];
        }
    }

    private static boolean known(Activation activation) {
        return activation == Activation.SILU || activation == Activation.GELU_TANH;
    }

    @ForceInline
    private static FloatVector value(Activation activation, FloatVector x) {
        FloatVector exponent =
                activation == Activation.SILU ? x.neg() : x.mul(x.mul(x).fma(GELU_CUBE, GELU_LINEAR));
        return x.div(VectorExp.exp(exponent).add(1f));
    }

    @Override
    public float squares(float[] x, int from, int n) {
        if (n % Strands.COUNT != 0) {
            return SCALAR.squares(x, from, n);
        }
        return LANES == 16
                ? squares16(x, from, from + n)
                : LANES == 8 ? squares8(x, from, from + n) : squares4(x, from, from + n);
    }

    @Override
    public void addScaled(float[] out, int at, float[] x, int from, int n, float factor) {
        int i = 0;
        for (; i + LANES <= n; i += LANES) {
            FloatVector.fromArray(F, x, from + i)
                    .mul(factor)
                    .add(FloatVector.fromArray(F, out, at + i))
                    .intoArray(out, at + i);
        }
        for (; i < n; i++) {
            out[at + i] += factor * x[from + i];
        }
    }

    // The strands are the lanes of two, four or eight vectors, of 16, 8 or 4 lanes. A method of its own for each,
    // without branches: where vectors of two paths meet, they would be put on the heap.

    private static float squares16(float[] x, int from, int to) {
        FloatVector a = FloatVector.zero(F);
        FloatVector b = a;
        for (int i = from; i < to; i += Strands.COUNT) {
            FloatVector v = FloatVector.fromArray(F, x, i);
            a = v.fma(v, a);
            v = FloatVector.fromArray(F, x, i + 1 * LANES);
            b = v.fma(v, b);
        }
        return Strands.fold(a.add(b));
    }

    private static float squares8(float[] x, int from, int to) {
        FloatVector a = FloatVector.zero(F);
        FloatVector b = a;
        FloatVector c = a;
        FloatVector d = a;
        for (int i = from; i < to; i += Strands.COUNT) {
            FloatVector v = FloatVector.fromArray(F, x, i);
            a = v.fma(v, a);
            v = FloatVector.fromArray(F, x, i + 1 * LANES);
            b = v.fma(v, b);
            v = FloatVector.fromArray(F, x, i + 2 * LANES);
            c = v.fma(v, c);
            v = FloatVector.fromArray(F, x, i + 3 * LANES);
            d = v.fma(v, d);
        }
        return Strands.fold(a.add(c).add(b.add(d)));
    }

    private static float squares4(float[] x, int from, int to) {
        FloatVector a = FloatVector.zero(F);
        FloatVector b = a;
        FloatVector c = a;
        FloatVector d = a;
        FloatVector e = a;
        FloatVector f = a;
        FloatVector g = a;
        FloatVector h = a;
        for (int i = from; i < to; i += Strands.COUNT) {
            FloatVector v = FloatVector.fromArray(F, x, i);
            a = v.fma(v, a);
            v = FloatVector.fromArray(F, x, i + 1 * LANES);
            b = v.fma(v, b);
            v = FloatVector.fromArray(F, x, i + 2 * LANES);
            c = v.fma(v, c);
            v = FloatVector.fromArray(F, x, i + 3 * LANES);
            d = v.fma(v, d);
            v = FloatVector.fromArray(F, x, i + 4 * LANES);
            e = v.fma(v, e);
            v = FloatVector.fromArray(F, x, i + 5 * LANES);
            f = v.fma(v, f);
            v = FloatVector.fromArray(F, x, i + 6 * LANES);
            g = v.fma(v, g);
            v = FloatVector.fromArray(F, x, i + 7 * LANES);
            h = v.fma(v, h);
        }
        return Strands.fold(a.add(e).add(c.add(g)).add(b.add(f).add(d.add(h))));
    }
}
