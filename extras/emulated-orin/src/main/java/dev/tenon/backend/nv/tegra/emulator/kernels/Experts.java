package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.floats;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.write;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/// `router.cu`, `experts.cu` and `expert_matmul.cu`: mixtures of experts. Activations are not rounded to 8 bits here.
final class Experts {
    private static final int NO_ACTIVATION = -1;
    private static final int SWIGLU_OAI = -2;

    private Experts() {}

    /// `router(logits, bias, chosen, shares, experts, used, sigmoid, normalise, scale, groups, groupsUsed)`: a block a
    /// token.
    static void router(KernelLaunch launch) {
        int rows = launch.geometry().gridX();
        int experts = launch.intParameter(4);
        int used = launch.intParameter(5);
        float[] logits = floats(launch, launch.longParameter(0), (long) rows * experts);
        float[] bias = floats(launch, launch.longParameter(1), experts);
        float[] chosen = new float[rows * used];
        float[] shares = new float[rows * used];
        for (int t = 0; t < rows; t++) {
            double[] p = probabilities(logits, t * experts, experts, launch.intParameter(6) != 0);
            double[] scores = p.clone();
            for (int e = 0; e < experts && bias != null; e++) {
                scores[e] += bias[e];
            }
            List<Integer> best = best(scores, open(scores, launch.intParameter(9), launch.intParameter(10)));
            double sum = 0;
            for (int k = 0; k < used; k++) {
                sum += p[best.get(k)];
            }
            double divisor = launch.intParameter(7) != 0 ? Math.max(sum, 0x1p-14) : 1;
            for (int k = 0; k < used; k++) {
                chosen[t * used + k] = best.get(k);
                shares[t * used + k] = (float) (p[best.get(k)] / divisor * launch.floatParameter(8));
            }
        }
        write(launch, launch.longParameter(2), chosen);
        write(launch, launch.longParameter(3), shares);
    }

    private static double[] probabilities(float[] logits, int from, int experts, boolean sigmoid) {
        double[] p = new double[experts];
        double largest = Double.NEGATIVE_INFINITY;
        for (int e = 0; e < experts; e++) {
            largest = Math.max(largest, logits[from + e]);
        }
        double sum = 0;
        for (int e = 0; e < experts; e++) {
            p[e] = sigmoid ? 1 / (1 + Math.exp(-logits[from + e])) : Math.exp(logits[from + e] - largest);
            sum += p[e];
        }
        for (int e = 0; e < experts && !sigmoid; e++) {
            p[e] /= sum;
        }
        return p;
    }

    /// The experts of the groups whose two best have the highest sums.
    private static List<Integer> open(double[] scores, int groups, int groupsUsed) {
        int size = scores.length / groups;
        double[] sums = new double[groups];
        for (int g = 0; g < groups; g++) {
            sums[g] = java.util.Arrays.stream(scores, g * size, (g + 1) * size)
                    .sorted()
                    .skip(Math.max(0, size - 2))
                    .sum();
        }
        List<Integer> all = IntStream.range(0, groups).boxed().toList();
        return best(sums, all).subList(0, groupsUsed).stream()
                .flatMap(g -> IntStream.range(g * size, (g + 1) * size).boxed())
                .toList();
    }

    /// Numbers in the order of their scores, the highest first, of equal ones the first.
    private static List<Integer> best(double[] scores, List<Integer> numbers) {
        return numbers.stream()
                .sorted(Comparator.<Integer>comparingDouble(i -> -scores[i]).thenComparingInt(i -> i))
                .toList();
    }

    /// `weighted_sum(x, shares, residual, out, used, width)`: a block a row.
    static void weightedSum(KernelLaunch launch) {
        int rows = launch.geometry().gridX();
        int used = launch.intParameter(4);
        int width = launch.intParameter(5);
        float[] x = floats(launch, launch.longParameter(0), (long) rows * used * width);
        float[] shares = floats(launch, launch.longParameter(1), (long) rows * used);
        float[] residual = floats(launch, launch.longParameter(2), (long) rows * width);
        write(launch, launch.longParameter(3), sum(x, shares, residual, rows, used, width));
    }

    private static float[] sum(float[] x, float[] shares, float[] residual, int rows, int used, int width) {
        float[] out = residual == null ? new float[rows * width] : residual;
        for (int t = 0; t < rows; t++) {
            for (int i = 0; i < width; i++) {
                for (int k = 0; k < used; k++) {
                    out[t * width + i] += shares[t * used + k] * x[(t * used + k) * width + i];
                }
            }
        }
        return out;
    }

    /// `expert_groups(chosen, pairs, experts, tile, order, tiles, tileCount)`.
    static void groups(KernelLaunch launch) {
        int pairs = launch.intParameter(1);
        int tile = launch.intParameter(3);
        int tileCount = launch.intParameter(6);
        float[] chosen = floats(launch, launch.longParameter(0), pairs);
        MemorySegment order = launch.memory(launch.longParameter(4), 4L * pairs);
        MemorySegment tiles = launch.memory(launch.longParameter(5), 16L * tileCount);
        tiles.fill((byte) 0);
        int at = 0;
        int tileAt = 0;
        for (int e = 0; e < launch.intParameter(2); e++) {
            int first = at;
            for (int i = 0; i < pairs; i++) {
                if (chosen[i] == e) {
                    order.set(Arrays.INT, 4L * at++, i);
                }
            }
            for (int from = first; from < at; from += tile) {
                tiles.set(Arrays.INT, 16L * tileAt, e);
                tiles.set(Arrays.INT, 16L * tileAt + 4, from);
                tiles.set(Arrays.INT, 16L * tileAt++ + 8, Math.min(tile, at - from));
            }
        }
    }

    /// Matrices of experts in a launch.
    private record Matrices(WeightFormat format, MemorySegment tensor, int experts, int rows, int cols, float[] bias) {
        static Matrices of(KernelLaunch launch, WeightFormat format, int at, int sizesAt, int cols, int biasAt) {
            int experts = launch.intParameter(sizesAt);
            int rows = launch.intParameter(sizesAt + 1);
            long bytes = (long) experts * rows * cols / format.block * format.bytes;
            return new Matrices(
                    format,
                    launch.memory(launch.longParameter(at), bytes),
                    experts,
                    rows,
                    cols,
                    floats(launch, launch.longParameter(biasAt), (long) experts * rows));
        }

        /// {@return x times the matrix of an expert, and its bias}
        float[] times(int expert, float[] x, int from) {
            float[] out = new float[rows];
            float[] row = new float[cols];
            for (int r = 0; r < rows; r++) {
                int number = expert * rows + r;
                format.row(tensor, (long) experts * rows, cols, number, row);
                out[r] = Products.dot(row, x, from) + (bias == null ? 0 : bias[number]);
            }
            return out;
        }
    }

    /// What becomes of a row.
    private record Gate(int activation, float alpha, float limit) {
        float of(float gate, float up) {
            if (activation != SWIGLU_OAI) {
                return Arrays.activated(gate, activation) * up;
            }
            double a = Math.min(gate, limit);
            double b = Math.clamp(up, -limit, limit);
            return (float) (a / (1 + Math.exp(-alpha * a)) * (b + 1));
        }
    }

    private static float[] activated(float[] x, int activation) {
        for (int i = 0; i < x.length && activation != NO_ACTIVATION; i++) {
            x[i] = Arrays.activated(x[i], activation);
        }
        return x;
    }

    private static float[] gated(float[] gate, float[] up, Gate glu) {
        for (int i = 0; i < gate.length; i++) {
            gate[i] = glu.of(gate[i], up[i]);
        }
        return gate;
    }

    private static void put(float[] row, float[] out, int number) {
        System.arraycopy(row, 0, out, number * row.length, row.length);
    }

    /// `expert_linear_F(weight, x, norm, eps, chosen, bias, out, used, own, experts, rows, cols, activation, threads)`.
    static void linear(KernelLaunch launch, WeightFormat format) {
        int used = launch.intParameter(7);
        boolean own = launch.intParameter(8) != 0;
        int cols = launch.intParameter(11);
        int pairs = launch.geometry().gridZ() * used;
        Matrices matrices = Matrices.of(launch, format, 0, 9, cols, 5);
        float[] x = Products.input(
                launch,
                launch.longParameter(1),
                launch.longParameter(2),
                launch.floatParameter(3),
                own ? pairs : pairs / used,
                cols);
        float[] chosen = floats(launch, launch.longParameter(4), pairs);
        float[] out = new float[pairs * matrices.rows];
        for (int p = 0; p < pairs; p++) {
            float[] row = matrices.times((int) chosen[p], x, (own ? p : p / used) * cols);
            put(activated(row, launch.intParameter(12)), out, p);
        }
        write(launch, launch.longParameter(6), out);
    }

    /// `expert_gate_up_F(gate, up, x, norm, eps, chosen, 2 biases, out, used, experts, rows, cols, activation, alpha,
    /// limit, threads)`.
    static void gateUp(KernelLaunch launch, WeightFormat format) {
        int used = launch.intParameter(9);
        int cols = launch.intParameter(12);
        int rows = launch.geometry().gridZ();
        Matrices gate = Matrices.of(launch, format, 0, 10, cols, 6);
        Matrices up = Matrices.of(launch, format, 1, 10, cols, 7);
        Gate glu = new Gate(launch.intParameter(13), launch.floatParameter(14), launch.floatParameter(15));
        float[] x = Products.input(
                launch, launch.longParameter(2), launch.longParameter(3), launch.floatParameter(4), rows, cols);
        float[] chosen = floats(launch, launch.longParameter(5), (long) rows * used);
        float[] out = new float[rows * used * gate.rows];
        for (int p = 0; p < rows * used; p++) {
            int from = p / used * cols;
            put(gated(gate.times((int) chosen[p], x, from), up.times((int) chosen[p], x, from), glu), out, p);
        }
        write(launch, launch.longParameter(8), out);
    }

    /// `expert_down_F(weight, x, chosen, shares, bias, residual, out, used, experts, rows, cols, threads)`.
    static void down(KernelLaunch launch, WeightFormat format) {
        int used = launch.intParameter(7);
        int cols = launch.intParameter(10);
        int rows = launch.geometry().gridY();
        Matrices matrices = Matrices.of(launch, format, 0, 8, cols, 4);
        float[] x = floats(launch, launch.longParameter(1), (long) rows * used * cols);
        float[] chosen = floats(launch, launch.longParameter(2), (long) rows * used);
        float[] shares = floats(launch, launch.longParameter(3), (long) rows * used);
        float[] residual = floats(launch, launch.longParameter(5), (long) rows * matrices.rows);
        float[] results = new float[rows * used * matrices.rows];
        for (int p = 0; p < rows * used; p++) {
            put(matrices.times((int) chosen[p], x, p * cols), results, p);
        }
        write(launch, launch.longParameter(6), sum(results, shares, residual, rows, used, matrices.rows));
    }

    /// The choices of a launch: where the row of each one's activations is, and what its expert is.
    private record Choice(int number, int place, int expert, int row) {
        /// {@return the choices in their order}
        static List<Choice> of(KernelLaunch launch) {
            int[] tiles = Arrays.ints(
                    launch, launch.longParameter(2), 4L * launch.geometry().gridX());
            int divisor = launch.intParameter(3);
            return IntStream.range(0, tiles.length / 4)
                    .boxed()
                    .flatMap(t -> IntStream.range(tiles[4 * t + 1], tiles[4 * t + 1] + tiles[4 * t + 2])
                            .mapToObj(place -> {
                                int number = Arrays.ints(launch, launch.longParameter(1) + 4L * place, 1)[0];
                                int row = divisor == 0 ? place : number / divisor;
                                return new Choice(number, place, tiles[4 * t], row);
                            }))
                    .toList();
        }

        float[] activations(KernelLaunch launch, int cols) {
            return Arrays.f16s(launch, launch.longParameter(0) + 2L * row * cols, cols);
        }
    }

    /// `expert_matmul_F_nN(x, order, tiles, divisor, cols, weight, experts, rows, bias, activation, out)`.
    static void matmul(KernelLaunch launch, WeightFormat format) {
        int cols = launch.intParameter(4);
        Matrices matrices = Matrices.of(launch, format, 5, 6, cols, 8);
        Choice.of(launch).parallelStream().forEach(c -> {
            float[] row = matrices.times(c.expert, c.activations(launch, cols), 0);
            write(
                    launch,
                    launch.longParameter(10) + 4L * c.number * matrices.rows,
                    activated(row, launch.intParameter(9)));
        });
    }

    /// `expert_matmul_gate_up_F_nN(x, order, tiles, divisor, cols, gate, up, experts, rows, 2 biases, activation,
    /// alpha,
    /// limit, out)`.
    static void matmulGateUp(KernelLaunch launch, WeightFormat format) {
        int cols = launch.intParameter(4);
        Matrices gate = Matrices.of(launch, format, 5, 7, cols, 9);
        Matrices up = Matrices.of(launch, format, 6, 7, cols, 10);
        Gate glu = new Gate(launch.intParameter(11), launch.floatParameter(12), launch.floatParameter(13));
        Choice.of(launch).parallelStream().forEach(c -> {
            float[] x = c.activations(launch, cols);
            float[] row = gated(gate.times(c.expert, x, 0), up.times(c.expert, x, 0), glu);
            Arrays.writeF16s(launch, launch.longParameter(14) + 2L * c.place * gate.rows, row);
        });
    }
}
