package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.floats;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.ints;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.write;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;

/// `encoders.cu`, and `rope_table_along` of `small.cu`.
final class EncoderKernels {
    private EncoderKernels() {}

    /// `rope_table_along(places, axes, frequency, table, pairs, magnitude)`: cosine and sine; a block a token.
    static void ropeTable(KernelLaunch launch) {
        int pairs = launch.intParameter(4);
        int rows = launch.geometry().gridX();
        int stride = (rows + 3) / 4 * 4;
        float magnitude = launch.floatParameter(5);
        float[] axes = floats(launch, launch.longParameter(1), pairs);
        double[] frequency = launch.memory(launch.longParameter(2), 8L * pairs).toArray(Arrays.DOUBLE);
        float[] table = new float[2 * rows * pairs];
        for (int i = 0; i < pairs; i++) {
            int[] places = ints(launch, launch.longParameter(0) + 4L * stride * (int) axes[i], rows);
            for (int t = 0; t < rows; t++) {
                double angle = places[t] * frequency[i];
                table[2 * (t * pairs + i)] = (float) Math.cos(angle) * magnitude;
                table[2 * (t * pairs + i) + 1] = (float) Math.sin(angle) * magnitude;
            }
        }
        write(launch, launch.longParameter(3), table);
    }

    /// `given_rows(x, has, given, stride, out, width, n)`.
    static void givenRows(KernelLaunch launch) {
        int stride = launch.intParameter(3);
        int width = launch.intParameter(5);
        int rows = (int) (launch.longParameter(6) / width);
        float[] x = floats(launch, launch.longParameter(0), (long) rows * width);
        float[] out = x == null ? new float[rows * width] : x;
        for (int t = 0; launch.longParameter(1) != 0 && t < rows; t++) {
            if (ints(launch, launch.longParameter(1), rows)[t] != 0) {
                float[] row = floats(launch, launch.longParameter(2) + 4L * t * stride, width);
                System.arraycopy(row, 0, out, t * width, width);
            }
        }
        write(launch, launch.longParameter(4), out);
    }

    /// `join_rows(x, rows, out, width, count)`: a block a row.
    static void joinRows(KernelLaunch launch) {
        int wanted = launch.geometry().gridX();
        int width = launch.intParameter(3) * launch.intParameter(4);
        int[] rows = ints(launch, launch.longParameter(1), wanted);
        for (int l = 0; l < wanted; l++) {
            long first = Math.max(0, rows[l] - launch.intParameter(4) + 1);
            float[] row = floats(launch, launch.longParameter(0) + 4L * first * launch.intParameter(3), width);
            write(launch, launch.longParameter(2) + 4L * l * width, row);
        }
    }

    /// `transpose(x, groups, length, out, n)`.
    static void transpose(KernelLaunch launch) {
        int groups = launch.intParameter(1);
        int length = launch.intParameter(2);
        float[] x = floats(launch, launch.longParameter(0), launch.longParameter(4));
        float[] out = new float[x.length];
        for (int i = 0; i < x.length; i++) {
            int at = i % (groups * length);
            out[i - at + at % length * groups + at / length] = x[i];
        }
        write(launch, launch.longParameter(3), out);
    }

    /// `clamp(x, least, most, out, n)`.
    static void clamp(KernelLaunch launch) {
        float[] x = floats(launch, launch.longParameter(0), launch.longParameter(4));
        for (int i = 0; i < x.length; i++) {
            x[i] = Math.min(Math.max(x[i], launch.floatParameter(1)), launch.floatParameter(2));
        }
        write(launch, launch.longParameter(3), x);
    }

    /// `xielu(x, alphaP, alphaN, beta, eps, out, n)`.
    static void xielu(KernelLaunch launch) {
        float[] x = floats(launch, launch.longParameter(0), launch.longParameter(6));
        for (int i = 0; i < x.length; i++) {
            double v = x[i];
            double bent = v > 0
                    ? launch.floatParameter(1) * v * v
                    : launch.floatParameter(2) * (Math.expm1(Math.min(v, launch.floatParameter(4))) - v);
            x[i] = (float) (bent + launch.floatParameter(3) * v);
        }
        write(launch, launch.longParameter(5), x);
    }

    /// `group_mean(x, out, group)`: a block a group.
    static void groupMean(KernelLaunch launch) {
        int group = launch.intParameter(2);
        int groups = launch.geometry().gridX();
        float[] x = floats(launch, launch.longParameter(0), (long) groups * group);
        for (int from = 0; from < x.length; from += group) {
            double sum = 0;
            for (int i = 0; i < group; i++) {
                sum += x[from + i];
            }
            java.util.Arrays.fill(x, from, from + group, (float) (sum / group));
        }
        write(launch, launch.longParameter(1), x);
    }

    /// `centred_convolution(x, weight, bias, sequences, out, width, taps, before, n)`.
    static void centredConvolution(KernelLaunch launch) {
        int width = launch.intParameter(5);
        int taps = launch.intParameter(6);
        float[] x = floats(launch, launch.longParameter(0), launch.longParameter(8));
        float[] weight = floats(launch, launch.longParameter(1), (long) width * taps);
        float[] bias = floats(launch, launch.longParameter(2), width);
        int[] sequences = ints(launch, launch.longParameter(3), x.length / width);
        float[] out = new float[x.length];
        for (int i = 0; i < out.length; i++) {
            double sum = bias == null ? 0 : bias[i % width];
            for (int j = 0; j < taps; j++) {
                int row = i / width - launch.intParameter(7) + j;
                if (row >= 0 && row < sequences.length && sequences[row] == sequences[i / width]) {
                    sum += (double) weight[i % width * taps + j] * x[row * width + i % width];
                }
            }
            out[i] = (float) sum;
        }
        write(launch, launch.longParameter(4), out);
    }

    /// `transposed_linear(x, weight, out, rows, cols, tokens)`: a block some columns of some tokens.
    static void transposedLinear(KernelLaunch launch) {
        int rows = launch.intParameter(3);
        int cols = launch.intParameter(4);
        int tokens = launch.intParameter(5);
        float[] x = floats(launch, launch.longParameter(0), (long) tokens * rows);
        float[] weight = floats(launch, launch.longParameter(1), (long) rows * cols);
        float[] out = new float[tokens * cols];
        for (int i = 0; i < out.length; i++) {
            double sum = 0;
            for (int r = 0; r < rows; r++) {
                sum += (double) x[i / cols * rows + r] * weight[r * cols + i % cols];
            }
            out[i] = (float) sum;
        }
        write(launch, launch.longParameter(2), out);
    }
}
