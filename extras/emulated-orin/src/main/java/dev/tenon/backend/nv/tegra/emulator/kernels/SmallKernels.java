package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.floats;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.write;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;
import java.lang.foreign.MemorySegment;

/// `small.cu` and `rows.cu`: norms, rotations, element by element, choosing rows.
final class SmallKernels {
    private SmallKernels() {}

    /// A function of one number.
    interface Unary {
        float of(float x);
    }

    /// A function of two numbers.
    interface Binary {
        float of(float a, float b);
    }

    /// `rms_norm(x, weight, eps, out, group, weights)`: a block a group.
    static void rmsNorm(KernelLaunch launch) {
        int group = launch.intParameter(4);
        int rows = launch.intParameter(5);
        int groups = launch.geometry().gridX();
        float[] x = floats(launch, launch.longParameter(0), (long) groups * group);
        float[] weights = floats(launch, launch.longParameter(1), (long) rows * group);
        for (int g = 0; g < groups; g++) {
            int row = g % rows * group;
            float[] weight = java.util.Arrays.copyOfRange(weights, row, row + group);
            Arrays.norm(x, g * group, group, weight, launch.floatParameter(2), x, g * group);
        }
        write(launch, launch.longParameter(3), x);
    }

    /// `rms_norm_two(x, ofX, widthX, y, ofY, widthY, eps)`: in place; a block a row and value.
    static void rmsNormTwo(KernelLaunch launch) {
        int rows = launch.geometry().gridX();
        for (int i = 0; i < 6; i += 3) {
            int width = launch.intParameter(i + 2);
            float[] x = floats(launch, launch.longParameter(i), (long) rows * width);
            float[] weight = floats(launch, launch.longParameter(i + 1), width);
            for (int r = 0; r < rows; r++) {
                Arrays.norm(x, r * width, width, weight, launch.floatParameter(6), x, r * width);
            }
            write(launch, launch.longParameter(i), x);
        }
    }

    /// `rms_norm_add(x, weight, eps, residual, out, width)`: a block a row.
    static void rmsNormAdd(KernelLaunch launch) {
        int width = launch.intParameter(5);
        int rows = launch.geometry().gridX();
        float[] x = floats(launch, launch.longParameter(0), (long) rows * width);
        float[] weight = floats(launch, launch.longParameter(1), width);
        float[] residual = floats(launch, launch.longParameter(3), x.length);
        for (int r = 0; r < rows; r++) {
            Arrays.norm(x, r * width, width, weight, launch.floatParameter(2), x, r * width);
        }
        for (int i = 0; i < x.length; i++) {
            x[i] += residual[i];
        }
        write(launch, launch.longParameter(4), x);
    }

    /// `layer_norm(x, weight, bias, eps, out, group, weights)`: a block a group.
    static void layerNorm(KernelLaunch launch) {
        int group = launch.intParameter(5);
        float[] x =
                floats(launch, launch.longParameter(0), (long) launch.geometry().gridX() * group);
        int weights = launch.intParameter(6);
        float[] weight = floats(launch, launch.longParameter(1), (long) group * weights);
        float[] bias = floats(launch, launch.longParameter(2), group);
        for (int from = 0; from < x.length; from += group) {
            double mean = 0;
            for (int i = from; i < from + group; i++) {
                mean += x[i] / (double) group;
            }
            double variance = 0;
            for (int i = from; i < from + group; i++) {
                variance += (x[i] - mean) * (x[i] - mean) / group;
            }
            double factor = 1 / Math.sqrt(variance + launch.floatParameter(3));
            int row = from / group % weights * group;
            for (int i = 0; i < group; i++) {
                x[from + i] = (float) ((x[from + i] - mean) * factor * weight[row + i] + (bias == null ? 0 : bias[i]));
            }
        }
        write(launch, launch.longParameter(4), x);
    }

    /// `repeat(row, width, out, n)`.
    static void repeat(KernelLaunch launch) {
        float[] row = floats(launch, launch.longParameter(0), launch.intParameter(1));
        float[] out = new float[(int) launch.longParameter(3)];
        for (int i = 0; i < out.length; i++) {
            out[i] = row[i % row.length];
        }
        write(launch, launch.longParameter(2), out);
    }

    /// `position_scale(x, positions, gain, offset, period, out, width, n)`.
    static void positionScale(KernelLaunch launch) {
        int width = launch.intParameter(6);
        float[] x = floats(launch, launch.longParameter(0), launch.longParameter(7));
        int[] positions = Arrays.ints(launch, launch.longParameter(1), x.length / width);
        for (int i = 0; i < x.length; i++) {
            int periods = (positions[i / width] + launch.intParameter(3)) / launch.intParameter(4);
            x[i] *= (float) (1 + launch.floatParameter(2) * Math.log(1 + periods));
        }
        write(launch, launch.longParameter(5), x);
    }

    /// `slice(x, group, from, length, out, n)`.
    static void slice(KernelLaunch launch) {
        int group = launch.intParameter(1);
        int length = launch.intParameter(3);
        float[] out = new float[(int) launch.longParameter(5)];
        float[] x = floats(launch, launch.longParameter(0), (long) out.length / length * group);
        for (int i = 0; i < out.length; i++) {
            out[i] = x[i / length * group + launch.intParameter(2) + i % length];
        }
        write(launch, launch.longParameter(4), out);
    }

    /// `join(a, b, ofA, ofB, out, n)`.
    static void join(KernelLaunch launch) {
        int ofA = launch.intParameter(2);
        int ofB = launch.intParameter(3);
        float[] out = new float[(int) launch.longParameter(5)];
        int groups = out.length / (ofA + ofB);
        float[] a = floats(launch, launch.longParameter(0), (long) groups * ofA);
        float[] b = floats(launch, launch.longParameter(1), (long) groups * ofB);
        for (int g = 0; g < groups; g++) {
            System.arraycopy(a, g * ofA, out, g * (ofA + ofB), ofA);
            System.arraycopy(b, g * ofB, out, g * (ofA + ofB) + ofA, ofB);
        }
        write(launch, launch.longParameter(4), out);
    }

    /// `swiglu_oai(gate, up, alpha, limit, out, n)`.
    static void swigluOai(KernelLaunch launch) {
        float alpha = launch.floatParameter(2);
        float limit = launch.floatParameter(3);
        float[] gate = floats(launch, launch.longParameter(0), launch.longParameter(5));
        float[] up = floats(launch, launch.longParameter(1), launch.longParameter(5));
        for (int i = 0; i < gate.length; i++) {
            float a = Math.min(gate[i], limit);
            gate[i] = (float) (a / (1 + Math.exp(-alpha * a)) * (Math.clamp(up[i], -limit, limit) + 1));
        }
        write(launch, launch.longParameter(4), gate);
    }

    /// `pool(x, rows, sequences, out, width, count, first)`: the mean or the first row of a sequence; a block
    /// a row and 256 columns.
    static void pool(KernelLaunch launch) {
        int width = launch.intParameter(4);
        int count = launch.intParameter(5);
        int wanted = launch.geometry().gridX();
        int[] rows = Arrays.ints(launch, launch.longParameter(1), wanted);
        int[] sequences = Arrays.ints(launch, launch.longParameter(2), count);
        float[] x = floats(launch, launch.longParameter(0), (long) count * width);
        float[] out = new float[wanted * width];
        for (int l = 0; l < wanted; l++) {
            int taken = 0;
            double[] sums = new double[width];
            for (int t = 0; t < count; t++) {
                if (sequences[t] == sequences[rows[l]] && (taken == 0 || launch.intParameter(6) == 0)) {
                    taken++;
                    for (int i = 0; i < width; i++) {
                        sums[i] += x[t * width + i];
                    }
                }
            }
            for (int i = 0; i < width; i++) {
                out[l * width + i] = (float) (sums[i] / taken);
            }
        }
        write(launch, launch.longParameter(3), out);
    }

    /// `norm_f16(x, weight, eps, out, width)`: a block a row.
    static void normF16(KernelLaunch launch) {
        int width = launch.intParameter(4);
        int rows = launch.geometry().gridX();
        float[] x = floats(launch, launch.longParameter(0), (long) rows * width);
        float[] weight = floats(launch, launch.longParameter(1), width);
        for (int r = 0; r < rows; r++) {
            Arrays.norm(x, r * width, width, weight, launch.floatParameter(2), x, r * width);
        }
        Arrays.writeF16s(launch, launch.longParameter(3), x);
    }

    /// `to_f16(x, out, n)`.
    static void toF16(KernelLaunch launch) {
        Arrays.writeF16s(
                launch, launch.longParameter(1), floats(launch, launch.longParameter(0), launch.longParameter(2)));
    }

    /// `to_f32(x, out, n)`.
    static void toFloats(KernelLaunch launch) {
        write(launch, launch.longParameter(1), Arrays.f16s(launch, launch.longParameter(0), launch.longParameter(2)));
    }

    /// `gate_f16(gate, up, activation, out, n)`.
    static void gateF16(KernelLaunch launch) {
        long n = launch.longParameter(4);
        float[] gate = floats(launch, launch.longParameter(0), n);
        float[] up = floats(launch, launch.longParameter(1), n);
        for (int i = 0; i < n; i++) {
            gate[i] = Arrays.activated(gate[i], launch.intParameter(2)) * up[i];
        }
        Arrays.writeF16s(launch, launch.longParameter(3), gate);
    }

    /// `rope_table(positions, frequency, table, pairs, magnitude)`: cosine and sine; a block a token.
    static void ropeTable(KernelLaunch launch) {
        int pairs = launch.intParameter(3);
        int rows = launch.geometry().gridX();
        float magnitude = launch.floatParameter(4);
        int[] positions = Arrays.ints(launch, launch.longParameter(0), rows);
        double[] frequency = launch.memory(launch.longParameter(1), 8L * pairs).toArray(Arrays.DOUBLE);
        float[] table = new float[2 * rows * pairs];
        for (int t = 0; t < rows; t++) {
            for (int i = 0; i < pairs; i++) {
                double angle = positions[t] * frequency[i];
                table[2 * (t * pairs + i)] = (float) Math.cos(angle) * magnitude;
                table[2 * (t * pairs + i) + 1] = (float) Math.sin(angle) * magnitude;
            }
        }
        write(launch, launch.longParameter(2), table);
    }

    /// `rope(x, table, out, heads, headDim, ropeDim, half, pairing)`: a block a head and token.
    static void rope(KernelLaunch launch) {
        int heads = launch.intParameter(3);
        int length = launch.intParameter(4);
        int rows = launch.geometry().gridY();
        float[] x = floats(launch, launch.longParameter(0), (long) rows * heads * length);
        Head head = new Head(
                launch,
                0,
                0,
                launch.longParameter(1),
                launch.intParameter(5),
                launch.intParameter(7),
                rows,
                launch.intParameter(6));
        float[] out = new float[x.length];
        for (int i = 0; i < rows * heads; i++) {
            head.prepare(i / heads, x, i * length, out, i * length, length);
        }
        write(launch, launch.longParameter(2), out);
    }

    /// `name(x, parameter, out, n)`.
    static void unary(KernelLaunch launch, Unary function) {
        float[] x = floats(launch, launch.longParameter(0), launch.longParameter(3));
        for (int i = 0; i < x.length; i++) {
            x[i] = function.of(x[i]);
        }
        write(launch, launch.longParameter(2), x);
    }

    /// `name(a, b, out, n)`.
    static void binary(KernelLaunch launch, Binary function) {
        float[] a = floats(launch, launch.longParameter(0), launch.longParameter(3));
        float[] b = floats(launch, launch.longParameter(1), launch.longParameter(3));
        for (int i = 0; i < a.length; i++) {
            a[i] = function.of(a[i], b[i]);
        }
        write(launch, launch.longParameter(2), a);
    }

    /// `select_rows(x, rows, out, width)`: a block a row.
    static void selectRows(KernelLaunch launch) {
        int width = launch.intParameter(3);
        int count = launch.geometry().gridX();
        int[] rows = Arrays.ints(launch, launch.longParameter(1), count);
        MemorySegment out = launch.memory(launch.longParameter(2), 4L * count * width);
        for (int l = 0; l < count; l++) {
            MemorySegment row = launch.memory(launch.longParameter(0) + 4L * rows[l] * width, 4L * width);
            MemorySegment.copy(row, 0, out, 4L * l * width, 4L * width);
        }
    }
}
