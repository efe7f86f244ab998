package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.activated;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.f16s;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.floats;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;

/// Matrix products: `linear.cu` and `qkv.cu` for up to eight rows of activations, `matmul.cu` for
/// more. Activations are not rounded to 8 bits here.
final class Products {
    /// Products from this size on are worth several threads.
    private static final long PARALLEL = 1 << 18;

    private Products() {}

    /// A weight of a launch.
    private record Matrix(WeightFormat format, MemorySegment tensor, int rows, int cols) {
        static Matrix of(KernelLaunch launch, WeightFormat format, long va, int rows, int cols) {
            long bytes = (long) rows * cols / format.block * format.bytes;
            return new Matrix(format, launch.memory(va, bytes), rows, cols);
        }

        /// {@return x times this, `[x.length / cols][rows]`}
        float[] times(float[] x) {
            int count = x.length / cols;
            float[] out = new float[count * rows];
            IntStream numbers = IntStream.range(0, rows);
            ((long) rows * cols * count > PARALLEL ? numbers.parallel() : numbers).forEach(row -> {
                float[] weights = new float[cols];
                format.row(tensor, rows, cols, row, weights);
                for (int t = 0; t < count; t++) {
                    out[t * rows + row] = dot(weights, x, t * cols);
                }
            });
            return out;
        }
    }

    static float dot(float[] a, float[] b, int from) {
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        int i = 0;
        for (; i + 4 <= a.length; i += 4) {
            s0 += a[i] * b[from + i];
            s1 += a[i + 1] * b[from + i + 1];
            s2 += a[i + 2] * b[from + i + 2];
            s3 += a[i + 3] * b[from + i + 3];
        }
        for (; i < a.length; i++) {
            s0 += a[i] * b[from + i];
        }
        return s0 + s1 + (s2 + s3);
    }

    /// The activations of a launch, normed if there is a norm's weight.
    static float[] input(KernelLaunch launch, long x, long norm, float eps, int count, int cols) {
        float[] values = floats(launch, x, (long) count * cols);
        float[] weight = floats(launch, norm, cols);
        if (weight != null) {
            for (int t = 0; t < count; t++) {
                Arrays.norm(values, t * cols, cols, weight, eps, values, t * cols);
            }
        }
        return values;
    }

    private static void add(float[] to, float[] bias, float[] residual) {
        for (int i = 0; i < to.length; i++) {
            to[i] += (bias == null ? 0 : bias[i % bias.length]) + (residual == null ? 0 : residual[i]);
        }
    }

    /// `linear_F_tN(weight, x, norm, eps, bias, residual, out, rows, cols, threads, factor, activation)`.
    static void linear(KernelLaunch launch, WeightFormat format, int count) {
        int rows = launch.intParameter(7);
        int cols = launch.intParameter(8);
        float[] x =
                input(launch, launch.longParameter(1), launch.longParameter(2), launch.floatParameter(3), count, cols);
        float[] out =
                Matrix.of(launch, format, launch.longParameter(0), rows, cols).times(x);
        add(out, floats(launch, launch.longParameter(4), rows), null);
        int activation = launch.intParameter(11);
        for (int i = 0; i < out.length; i++) {
            float value = launch.floatParameter(10) * out[i];
            out[i] = activation < 0 ? value : activated(value, activation);
        }
        add(out, null, floats(launch, launch.longParameter(5), out.length));
        Arrays.write(launch, launch.longParameter(6), out);
    }

    /// `gate_up_F_tN(gate, up, x, norm, eps, out, rows, cols, threads, activation)`.
    static void gateUp(KernelLaunch launch, WeightFormat format, int count) {
        int rows = launch.intParameter(6);
        int cols = launch.intParameter(7);
        float[] x =
                input(launch, launch.longParameter(2), launch.longParameter(3), launch.floatParameter(4), count, cols);
        Arrays.write(
                launch,
                launch.longParameter(5),
                gated(
                        Matrix.of(launch, format, launch.longParameter(0), rows, cols)
                                .times(x),
                        Matrix.of(launch, format, launch.longParameter(1), rows, cols)
                                .times(x),
                        launch.intParameter(9)));
    }

    private static float[] gated(float[] gate, float[] up, int activation) {
        for (int i = 0; i < gate.length; i++) {
            gate[i] = activated(gate[i], activation) * up[i];
        }
        return gate;
    }

    /// `qkv_F_V_tN(q, k, v, x, norm, eps, 3 biases, 3 outs, 3 row counts, cols, threads)`.
    static void qkv(KernelLaunch launch, WeightFormat format, WeightFormat ofV, int count) {
        int cols = launch.intParameter(15);
        float[] x =
                input(launch, launch.longParameter(3), launch.longParameter(4), launch.floatParameter(5), count, cols);
        for (int i = 0; i < 3; i++) {
            int rows = launch.intParameter(12 + i);
            if (rows > 0) {
                float[] out = Matrix.of(launch, i < 2 ? format : ofV, launch.longParameter(i), rows, cols)
                        .times(x);
                add(out, floats(launch, launch.longParameter(6 + i), rows), null);
                Arrays.write(launch, launch.longParameter(9 + i), out);
            }
        }
    }

    /// `matmul_F_nN(x, T, cols, 3 weights, 3 row counts, 3 biases, residual, 3 outs, partial, counter,
    /// splits)`.
    static void matmul(KernelLaunch launch, WeightFormat format) {
        int count = launch.intParameter(1);
        int cols = launch.intParameter(2);
        float[] x = f16s(launch, launch.longParameter(0), (long) count * cols);
        for (int i = 0; i < 3; i++) {
            int rows = launch.intParameter(6 + i);
            if (rows > 0) {
                float[] out = Matrix.of(launch, format, launch.longParameter(3 + i), rows, cols)
                        .times(x);
                float[] residual = floats(launch, launch.longParameter(12), out.length);
                add(out, floats(launch, launch.longParameter(9 + i), rows), residual);
                Arrays.write(launch, launch.longParameter(13 + i), out);
            }
        }
    }

    /// `float_matmul(x, T, cols, weight, rows, bias, residual, out, partial, counter, splits)`.
    static void floatMatmul(KernelLaunch launch) {
        int cols = launch.intParameter(2);
        int rows = launch.intParameter(4);
        float[] x = floats(launch, launch.longParameter(0), (long) launch.intParameter(1) * cols);
        float[] out = Matrix.of(launch, WeightFormat.of("F32"), launch.longParameter(3), rows, cols)
                .times(x);
        float[] residual = floats(launch, launch.longParameter(6), out.length);
        add(out, floats(launch, launch.longParameter(5), rows), residual);
        Arrays.write(launch, launch.longParameter(7), out);
    }

    /// `matmul_gate_up_F_nN(x, T, cols, gate, up, rows, activation, out, partial, counter, splits)`.
    static void matmulGateUp(KernelLaunch launch, WeightFormat format) {
        int count = launch.intParameter(1);
        int cols = launch.intParameter(2);
        int rows = launch.intParameter(5);
        float[] x = f16s(launch, launch.longParameter(0), (long) count * cols);
        Arrays.writeF16s(
                launch,
                launch.longParameter(7),
                gated(
                        Matrix.of(launch, format, launch.longParameter(3), rows, cols)
                                .times(x),
                        Matrix.of(launch, format, launch.longParameter(4), rows, cols)
                                .times(x),
                        launch.intParameter(6)));
    }
}
