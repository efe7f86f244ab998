package dev.tenon.backend.cpu.vector.threads;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;

/// Prints what a barrier of the thread team costs when all threads come at about the same time. Not a test.
/// Argument: threads.
final class BarrierTiming {
    private static final int BARRIERS = 200_000;
    private static final int GROUPS = 400;

    public static void main(String[] args) {
        int threads = Integer.parseInt(args[0]);
        try (CpuThreads team = new CpuThreads(threads)) {
            for (int round = 0; round < 6; round++) {
                double[] group = new double[GROUPS];
                team.run(thread -> {
                    for (int g = 0; g < GROUPS; g++) {
                        long start = System.nanoTime();
                        for (int i = 0; i < BARRIERS / GROUPS; i++) {
                            team.claim(1);
                            team.barrier(thread);
                        }
                        if (thread == 0) {
                            group[g] = (System.nanoTime() - start) / (double) (BARRIERS / GROUPS);
                        }
                    }
                });
                Arrays.sort(group);
                long start = System.nanoTime();
                for (int i = 0; i < 2000; i++) {
                    team.run(thread -> {});
                }
                double job = (System.nanoTime() - start) / 2000.0;
                System.out.printf(
                        Locale.ROOT,
                        "%d threads: a barrier %.0f ns (median of groups; best %.0f, 9 in 10 below %.0f); a job %.0f ns;"
                                + " load %.1f%n",
                        threads,
                        group[GROUPS / 2],
                        group[0],
                        group[GROUPS * 9 / 10],
                        job,
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
            }
        }
    }
}
