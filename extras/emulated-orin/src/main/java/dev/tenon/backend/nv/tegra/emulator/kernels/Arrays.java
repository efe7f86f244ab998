package dev.tenon.backend.nv.tegra.emulator.kernels;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Arrays from and to the memory of a launch.
final class Arrays {
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;
    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final float LARGEST_F16 = 65504;

    private Arrays() {}

    /// {@return float32 numbers; null for the null address}
    static float[] floats(KernelLaunch launch, long va, long count) {
        return va == 0 ? null : launch.memory(va, 4 * count).toArray(FLOAT);
    }

    /// {@return float16 numbers}
    static float[] f16s(KernelLaunch launch, long va, long count) {
        short[] bits = launch.memory(va, 2 * count).toArray(SHORT);
        float[] values = new float[bits.length];
        for (int i = 0; i < bits.length; i++) {
            values[i] = Float.float16ToFloat(bits[i]);
        }
        return values;
    }

    /// {@return integers}
    static int[] ints(KernelLaunch launch, long va, long count) {
        return launch.memory(va, 4 * count).toArray(INT);
    }

    /// Writes float32 numbers.
    static void write(KernelLaunch launch, long va, float[] values) {
        launch.memory(va, 4L * values.length).copyFrom(MemorySegment.ofArray(values));
    }

    /// Writes float16 numbers; what is too large becomes the largest.
    static void writeF16s(KernelLaunch launch, long va, float[] values) {
        short[] bits = new short[values.length];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = Float.floatToFloat16(Math.clamp(values[i], -LARGEST_F16, LARGEST_F16));
        }
        launch.memory(va, 2L * bits.length).copyFrom(MemorySegment.ofArray(bits));
    }

    /// {@return a float16 number in memory}
    static float f16(MemorySegment memory, long at) {
        return Float.float16ToFloat(memory.get(SHORT, at));
    }

    /// {@return an activation function, numbered as the graph's}
    static float activated(float x, int activation) {
        return switch (activation) {
            case 0 -> (float) (x / (1 + Math.exp(-x)));
            case 1 -> (float) (0.5 * x * (1 + Math.tanh(0.7978845608 * (x + 0.044715 * x * x * x))));
            case 3 -> Math.max(x, 0) * Math.max(x, 0);
            case 4 -> (float) (1 / (1 + Math.exp(-x)));
            case 5 -> (float) Math.tanh(x);
            case 6 -> (float) (x / (1 + Math.exp(-x * normal(Math.min((double) x * x, 25)))));
            default -> Math.max(x, 0);
        };
    }

    /// {@return of the normal distribution below `x`, the logarithm of the odds by `x`, as `common.cuh` fits it}
    private static double normal(double square) {
        return 1.5956584
                + square * (0.072931378 + square * (-2.4592150e-4 + square * (-6.1910786e-5 + square * 2.2820085e-6)));
    }

    /// Norms `length` numbers from `from` on: `x / sqrt(mean(x^2) + eps) * weight`.
    static void norm(float[] x, int from, int length, float[] weight, float eps, float[] out, int to) {
        double squares = 0;
        for (int i = 0; i < length; i++) {
            squares += (double) x[from + i] * x[from + i];
        }
        double factor = 1 / Math.sqrt(squares / length + eps);
        for (int i = 0; i < length; i++) {
            out[to + i] = (float) (x[from + i] * factor * weight[i]);
        }
    }
}
