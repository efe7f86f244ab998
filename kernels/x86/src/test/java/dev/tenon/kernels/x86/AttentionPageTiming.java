package dev.tenon.kernels.x86;

import dev.tenon.api.kernel.cpu.AttentionRows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/// Prints how long a page takes on one thread, for 3 s. Not a test and not a benchmark. Arguments: element type, length
/// of keys and values, rows, number of pages that are read in turns, feature set.
final class AttentionPageTiming {
    private static final long NANOS = 3_000_000_000L;

    public static void main(String[] args) {
        AttentionShape.Type type = AttentionShape.Type.valueOf(args[0]);
        int length = Integer.parseInt(args[1]);
        int rows = Integer.parseInt(args[2]);
        int count = Integer.parseInt(args[3]);
        FeatureSet set = FeatureSet.valueOf(args[4]);
        AttentionShape shape = new AttentionShape(type, length, length);
        try (Arena arena = Arena.ofConfined();
                MachineAttention kernel = new MachineAttention(type, set)) {
            long head = (shape.headBytes(length) + 63) / 64 * 64;
            MemorySegment pages = arena.allocate(2 * count * head, 64);
            MemorySegment scratch = arena.allocate(kernel.scratchBytes(length, length), 64);
            float[] q = new float[rows * length];
            Arrays.fill(q, 0.01f);
            float[] max = new float[rows];
            float[] sum = new float[rows];
            float[] acc = new float[rows * length];
            int[] run = {0, rows, 0, AttentionCode.TOKENS};
            AttentionRows view = new AttentionRows(q, max, sum, acc, run);
            int calls = Math.max(1, 3000 / rows);
            List<Double> times = new ArrayList<>();
            long end = System.nanoTime() + NANOS;
            for (int at = 0; System.nanoTime() < end; ) {
                long start = System.nanoTime();
                for (int i = 0; i < calls; i++) {
                    long keys = 2 * at * head;
                    at = (at + 1) % count;
                    kernel.attend(pages, keys, keys + head, length, length, view, 1, scratch);
                }
                times.add((System.nanoTime() - start) / (double) calls);
            }
            Collections.sort(times);
            double best = times.getFirst();
            double flops = 4.0 * length * AttentionCode.TOKENS * rows;
            System.out.printf(
                    Locale.ROOT,
                    "%s, %d elements, %d rows: best %.0f ns (%.0f GFLOP/s, %.1f GB/s), median %.0f ns%n",
                    type,
                    length,
                    rows,
                    best,
                    flops / best,
                    2 * shape.headBytes(length) / best,
                    times.get(times.size() / 2));
        }
    }
}
