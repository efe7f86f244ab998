package dev.tenon.itest.testkit.reference;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.kernel.cpu.ElementKernel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// What [ElementKernel] promises, in plain Java, one number after the other: the truth that kernels are compared
/// with, bit for bit. Safe for any thread.
public class PlainElements implements ElementKernel {
    private static final int STRANDS = 32;
    private static final float GELU_LINEAR = (float) (-2 * Math.sqrt(2 / Math.PI));
    private static final float GELU_CUBE = (float) (-2 * Math.sqrt(2 / Math.PI) * 0.044715);

    /// Creates the kernel.
    public PlainElements() {}

    @Override
    public String name() {
        return "plain.elements";
    }

    @Override
    public boolean accepts(Activation activation) {
        return activation == Activation.SILU || activation == Activation.GELU_TANH;
    }

    @Override
    public void gate(
            Activation activation, int rows, int n, MemorySegment gate, MemorySegment up, long at, long stride) {
        for (int r = 0; r < rows; r++) {
            for (long i = at + r * stride; i < at + r * stride + n; i++) {
                float x = get(gate, i);
                float exponent = activation == Activation.SILU ? -x : x * Math.fma(x * x, GELU_CUBE, GELU_LINEAR);
                set(gate, i, x / (exp(exponent) + 1) * get(up, i));
            }
        }
    }

    @Override
    public void norm(
            int rows, MemorySegment x, long xAt, MemorySegment weight, float eps, MemorySegment out, long outAt) {
        long n = weight.byteSize() / Float.BYTES;
        for (int r = 0; r < rows; r++) {
            float[] strands = new float[STRANDS];
            for (int i = 0; i < n; i++) {
                float value = get(x, xAt + r * n + i);
                strands[i % STRANDS] = Math.fma(value, value, strands[i % STRANDS]);
            }
            for (int half = STRANDS / 2; half > 0; half /= 2) {
                for (int j = 0; j < half; j++) {
                    strands[j] += strands[j + half];
                }
            }
            float factor = (float) (1 / Math.sqrt((double) strands[0] / n + eps));
            for (int i = 0; i < n; i++) {
                set(out, outAt + r * n + i, get(x, xAt + r * n + i) * factor * get(weight, i));
            }
        }
    }

    @Override
    public void add(int rows, int n, MemorySegment x, MemorySegment out, long at, long stride) {
        for (int r = 0; r < rows; r++) {
            for (long i = at + r * stride; i < at + r * stride + n; i++) {
                set(out, i, get(out, i) + get(x, i));
            }
        }
    }

    private static float get(MemorySegment numbers, long index) {
        return numbers.getAtIndex(ValueLayout.JAVA_FLOAT, index);
    }

    private static void set(MemorySegment numbers, long index, float value) {
        numbers.setAtIndex(ValueLayout.JAVA_FLOAT, index, value);
    }

    private static float exp(float x) {
        return x > 88.7f ? Float.POSITIVE_INFINITY : PlainAttention.exp(x);
    }
}
