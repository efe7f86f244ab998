package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.floats;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.ints;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.write;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;

/// `states.cu`: ops with a state.
final class States {
    private States() {}

    /// The rows of one sequence in a step.
    private record Run(int first, int rows, int slot, boolean begins) {
        static Run of(KernelLaunch launch, long runs, long positions, int number) {
            int[] numbers = ints(launch, runs + 16L * number, 4);
            boolean begins = numbers[1] > 0 && ints(launch, positions + 4L * numbers[0], 1)[0] == 0;
            return new Run(numbers[0], numbers[1], numbers[2], begins);
        }

        /// What its slot holds; zeros at the beginning of a sequence.
        float[] state(KernelLaunch launch, long states, int length) {
            return begins ? new float[length] : floats(launch, states + 4L * slot * length, length);
        }
    }

    /// `short_convolution(x, weight, bias, states, runOfRow, runs, positions, out, width, taps, activation)`: a
    /// block a row and some channels.
    static void convolution(KernelLaunch launch) {
        int rows = launch.geometry().gridX();
        int width = launch.intParameter(8);
        int taps = launch.intParameter(9);
        int activation = launch.intParameter(10);
        int length = (taps - 1) * width;
        float[] x = floats(launch, launch.longParameter(0), (long) rows * width);
        float[] weight = floats(launch, launch.longParameter(1), (long) width * taps);
        float[] bias = floats(launch, launch.longParameter(2), width);
        long states = launch.longParameter(3);
        int[] runOfRow = ints(launch, launch.longParameter(4), rows);
        for (int t = 0; t < rows; t++) {
            if (runOfRow[t] < 0 || t > 0 && runOfRow[t] == runOfRow[t - 1]) {
                continue;
            }
            Run run = Run.of(launch, launch.longParameter(5), launch.longParameter(6), runOfRow[t]);
            // The rows before the run, then those of the run.
            float[] all = new float[length + run.rows * width];
            System.arraycopy(run.state(launch, states, length), 0, all, 0, length);
            System.arraycopy(x, run.first * width, all, length, run.rows * width);
            float[] out = new float[run.rows * width];
            for (int i = 0; i < out.length; i++) {
                double sum = bias == null ? 0 : bias[i % width];
                for (int j = 0; j < taps; j++) {
                    sum += (double) weight[i % width * taps + j] * all[i + j * width];
                }
                out[i] = activation < 0 ? (float) sum : Arrays.activated((float) sum, activation);
            }
            write(launch, launch.longParameter(7) + 4L * run.first * width, out);
            float[] left = java.util.Arrays.copyOfRange(all, all.length - length, all.length);
            write(launch, states + 4L * run.slot * length, left);
        }
    }

    /// `selective_scan_N(xbc, step, a, d, bias, states, runs, positions, out, groups, rows, length)`: a block some
    /// rows, a head and a run.
    static void scan(KernelLaunch launch) {
        int heads = launch.geometry().gridY();
        int groups = launch.intParameter(9);
        int rows = launch.intParameter(10);
        int length = launch.intParameter(11);
        float[] a = floats(launch, launch.longParameter(2), heads);
        float[] d = floats(launch, launch.longParameter(3), heads);
        float[] bias = floats(launch, launch.longParameter(4), heads);
        int width = heads * rows + 2 * groups * length;
        for (int r = 0; r < launch.geometry().gridZ(); r++) {
            Run run = Run.of(launch, launch.longParameter(6), launch.longParameter(7), r);
            if (run.rows == 0) {
                continue;
            }
            float[] state = run.state(launch, launch.longParameter(5), heads * rows * length);
            float[] out = new float[run.rows * heads * rows];
            float[] xbc = floats(launch, launch.longParameter(0) + 4L * run.first * width, (long) run.rows * width);
            float[] step = floats(launch, launch.longParameter(1) + 4L * run.first * heads, (long) run.rows * heads);
            for (int i = 0; i < out.length; i++) {
                int t = i / (heads * rows);
                int row = i % (heads * rows);
                int head = row / rows;
                int b = t * width + heads * rows + head / (heads / groups) * length;
                double dt = softplus(step[t * heads + head] + bias[head]);
                double x = xbc[t * width + row];
                double sum = d[head] * x;
                for (int s = 0; s < length; s++) {
                    int at = row * length + s;
                    state[at] = (float) (Math.exp(dt * a[head]) * state[at] + dt * x * xbc[b + s]);
                    sum += (double) state[at] * xbc[b + groups * length + s];
                }
                out[i] = (float) sum;
            }
            write(launch, launch.longParameter(8) + 4L * run.first * heads * rows, out);
            write(launch, launch.longParameter(5) + 4L * run.slot * state.length, state);
        }
    }

    /// `gated_delta_rule_N(qkv, decay, beta, a, bias, states, runs, positions, out, keyHeads, cyclic, eps, rows,
    /// length)`: a block some rows, a value head and a run. So is `delta_rule_of_keys_N`, with a decay of each key.
    static void rule(KernelLaunch launch, boolean ofKeys) {
        int heads = launch.geometry().gridY();
        int keyHeads = launch.intParameter(9);
        boolean cyclic = launch.intParameter(10) != 0;
        float eps = launch.floatParameter(11);
        int rows = launch.intParameter(12);
        int length = launch.intParameter(13);
        float[] a = floats(launch, launch.longParameter(3), heads);
        int decays = ofKeys ? length : 1;
        float[] bias = floats(launch, launch.longParameter(4), (long) heads * decays);
        int width = 2 * keyHeads * length + heads * rows;
        for (int r = 0; r < launch.geometry().gridZ(); r++) {
            Run run = Run.of(launch, launch.longParameter(6), launch.longParameter(7), r);
            if (run.rows == 0) {
                continue;
            }
            float[] state = run.state(launch, launch.longParameter(5), heads * rows * length);
            float[] out = new float[run.rows * heads * rows];
            float[] qkv = floats(launch, launch.longParameter(0) + 4L * run.first * width, (long) run.rows * width);
            float[] decay = floats(
                    launch,
                    launch.longParameter(1) + 4L * run.first * heads * decays,
                    (long) run.rows * heads * decays);
            float[] beta = floats(launch, launch.longParameter(2) + 4L * run.first * heads, (long) run.rows * heads);
            for (int i = 0; i < run.rows * heads; i++) {
                int head = i % heads;
                int from = i / heads * width;
                int keyHead = cyclic ? head % keyHeads : head / (heads / keyHeads);
                double[] query = scaled(qkv, from + keyHead * length, length, eps, Math.sqrt(length));
                double[] key = scaled(qkv, from + (keyHeads + keyHead) * length, length, eps, 1);
                double[] kept = new double[length];
                for (int k = 0; k < length; k++) {
                    int d = k % decays;
                    kept[k] = Math.exp(a[head] * softplus(decay[i * decays + d] + bias[head * decays + d]));
                }
                double strength = 1 / (1 + Math.exp(-beta[i]));
                for (int v = 0; v < rows; v++) {
                    int at = (head * rows + v) * length;
                    double seen = 0;
                    for (int k = 0; k < length; k++) {
                        seen += kept[k] * state[at + k] * key[k];
                    }
                    double delta = strength * (qkv[from + 2 * keyHeads * length + head * rows + v] - seen);
                    double sum = 0;
                    for (int k = 0; k < length; k++) {
                        state[at + k] = (float) (kept[k] * state[at + k] + delta * key[k]);
                        sum += state[at + k] * query[k];
                    }
                    out[i * rows + v] = (float) sum;
                }
            }
            write(launch, launch.longParameter(8) + 4L * run.first * heads * rows, out);
            write(launch, launch.longParameter(5) + 4L * run.slot * state.length, state);
        }
    }

    /// `token_shift(x, weight, states, runOfRow, runs, positions, out, width, ways)`: a block a row and some channels.
    static void shift(KernelLaunch launch) {
        int rows = launch.geometry().gridX();
        int width = launch.intParameter(7);
        int ways = launch.intParameter(8);
        float[] x = floats(launch, launch.longParameter(0), (long) rows * width);
        float[] weight = floats(launch, launch.longParameter(1), (long) ways * width);
        int[] runOfRow = ints(launch, launch.longParameter(3), rows);
        float[] before = new float[width];
        for (int t = 0; t < rows && runOfRow[t] >= 0; t++) {
            Run run = Run.of(launch, launch.longParameter(4), launch.longParameter(5), runOfRow[t]);
            if (t == run.first) {
                before = run.state(launch, launch.longParameter(2), width);
            }
            float[] own = java.util.Arrays.copyOfRange(x, t * width, (t + 1) * width);
            float[] out = new float[ways * width];
            for (int i = 0; i < out.length; i++) {
                out[i] = own[i % width] + weight[i] * (before[i % width] - own[i % width]);
            }
            write(launch, launch.longParameter(6) + 4L * t * out.length, out);
            before = own;
            if (t == run.first + run.rows - 1) {
                write(launch, launch.longParameter(2) + 4L * run.slot * width, own);
            }
        }
    }

    /// `replacement_rule_N(rkv, decay, remove, add, states, runs, positions, out, length)`: a block some rows, a head
    /// and a run.
    static void replacement(KernelLaunch launch) {
        int heads = launch.geometry().gridY();
        int length = launch.intParameter(8);
        int width = heads * length;
        for (int r = 0; r < launch.geometry().gridZ(); r++) {
            Run run = Run.of(launch, launch.longParameter(5), launch.longParameter(6), r);
            if (run.rows == 0) {
                continue;
            }
            float[] state = run.state(launch, launch.longParameter(4), width * length);
            float[][] in = new float[4][];
            for (int i = 0; i < 4; i++) {
                long each = i == 0 ? 3L * width : width;
                in[i] = floats(launch, launch.longParameter(i) + 4L * run.first * each, run.rows * each);
            }
            float[] out = new float[run.rows * width];
            for (int i = 0; i < out.length; i++) {
                int t = i / width;
                int first = i % width / length * length; // of the head
                int at = i % width * length; // of the value's row
                double found = 0;
                for (int k = 0; k < length; k++) {
                    found += (double) state[at + k] * in[2][t * width + first + k];
                }
                double value = in[0][3 * t * width + 2 * width + i % width];
                double sum = 0;
                for (int k = 0; k < length; k++) {
                    int of = t * width + first + k;
                    int ofKey = 3 * t * width + first + k;
                    state[at + k] = (float)
                            (Math.exp(in[1][of]) * state[at + k] - found * in[3][of] + value * in[0][ofKey + width]);
                    sum += (double) state[at + k] * in[0][ofKey];
                }
                out[i] = (float) sum;
            }
            write(launch, launch.longParameter(7) + 4L * run.first * width, out);
            write(launch, launch.longParameter(4) + 4L * run.slot * state.length, state);
        }
    }

    private static double softplus(double x) {
        return Math.log1p(Math.exp(-Math.abs(x))) + Math.max(x, 0);
    }

    private static double[] scaled(float[] from, int at, int length, float eps, double divisor) {
        double squares = 0;
        for (int i = 0; i < length; i++) {
            squares += (double) from[at + i] * from[at + i];
        }
        double[] scaled = new double[length];
        for (int i = 0; i < length; i++) {
            scaled[i] = from[at + i] / (Math.max(Math.sqrt(squares), eps) * divisor);
        }
        return scaled;
    }
}
