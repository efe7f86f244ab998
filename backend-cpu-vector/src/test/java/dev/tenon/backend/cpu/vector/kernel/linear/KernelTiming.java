package dev.tenon.backend.cpu.vector.kernel.linear;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.Random;

/// Prints rough speeds of the kernels on one thread: GB/s of weight bytes for one token, GFLOP/s for 64
/// tokens. Not a
/// test and not a benchmark. Arguments: formats.
final class KernelTiming {
    private static final int ROWS = 8192;
    private static final int COLS = 2048;
    private static final int TOKENS = 64;

    public static void main(String[] formats) {
        for (String id : formats) {
            LinearKernel kernel = PackedTestKernel.of(id);
            long rowBytes = rowBytes(id);
            // Several copies, so that no cache holds them.
            int copies = (int) (256_000_000 / (rowBytes * ROWS) + 1);
            try (Arena arena = Arena.ofShared()) {
                MemorySegment weights = arena.allocate(rowBytes * ROWS * copies, 64);
                Random random = new Random(1);
                for (long i = 0; i + 8 <= weights.byteSize(); i += 8) {
                    weights.set(
                            ValueLayout.JAVA_LONG_UNALIGNED,
                            i,
                            random.nextLong() & 0x3B3B3B3B3B3B3B3BL | 0x2020202020202020L);
                }
                float[] x = new float[TOKENS * COLS];
                for (int i = 0; i < x.length; i++) {
                    x[i] = (float) random.nextGaussian();
                }
                float[] out = new float[TOKENS * ROWS];
                Scratch scratch = Scratch.of(kernel, COLS);
                double cold = oneToken(kernel, weights, rowBytes, ROWS, copies, x, out, scratch);
                double cached = oneToken(kernel, weights, rowBytes, ROWS / 16, 1, x, out, scratch);
                double many = 1e9;
                for (int i = 0; i < 8; i++) {
                    long start = cpuNanos();
                    kernel.run(weights, rowBytes, 0, ROWS, x, COLS, TOKENS, out, ROWS, scratch);
                    many = Math.min(many, (cpuNanos() - start) / 1e9);
                }
                System.out.printf(
                        Locale.ROOT,
                        "%-18s cold %5.1f  cached %5.1f GB/s  %6.1f GFLOP/s%n",
                        kernel.name(),
                        rowBytes * ROWS / cold / 1e9,
                        rowBytes * (ROWS / 16) / cached / 1e9,
                        2.0 * ROWS * COLS * TOKENS / many / 1e9);
            }
        }
    }

    /// Seconds for a matrix-vector product.
    private static double oneToken(
            LinearKernel kernel,
            MemorySegment weights,
            long rowBytes,
            int rows,
            int copies,
            float[] x,
            float[] out,
            Scratch scratch) {
        double best = 1e9;
        for (int i = 0; i < 12; i++) {
            int repeats = Math.max(copies, 16);
            long start = cpuNanos();
            for (int c = 0; c < repeats; c++) {
                MemorySegment matrix = weights.asSlice(c % copies * rowBytes * rows);
                kernel.run(matrix, rowBytes, 0, rows, x, COLS, 1, out, ROWS, scratch);
            }
            best = Math.min(best, (cpuNanos() - start) / 1e9 / repeats);
        }
        return best;
    }

    /// Time on the processor, which other work on the machine does not lengthen.
    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static long rowBytes(String id) {
        return switch (id) {
            case "F32" -> COLS * 4L;
            case "F16", "BF16" -> COLS * 2L;
            case "Q8_0" -> COLS / 32 * 34L;
            case "Q6_K" -> COLS / 256 * 210L;
            case "Q5_K" -> COLS / 256 * 176L;
            case "Q3_K" -> COLS / 256 * 110L;
            case "Q2_K" -> COLS / 256 * 84L;
            case "Q4_K" -> COLS / 256 * 144L;
            case "Q4_0" -> COLS / 32 * 18L;
            default -> throw new IllegalArgumentException(id);
        };
    }
}
