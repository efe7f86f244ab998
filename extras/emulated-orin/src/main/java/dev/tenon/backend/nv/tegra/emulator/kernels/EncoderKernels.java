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
}
