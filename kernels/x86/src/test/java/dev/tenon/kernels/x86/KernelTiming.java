package dev.tenon.kernels.x86;

import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.PackedKernel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;

/// Prints what the kernels reach here: GB/s of weight bytes for one token, GFLOP/s for many.
///
/// `java ... KernelTiming [avx512|avxvnni|avx2] [megabytes] [rounds] [formats]`. For one token the weights
/// rotate
/// through the given memory (default 1024 MB), so that no cache keeps them. The best round is printed.
public final class KernelTiming {
    private static final int ROWS = 8192;
    private static final int N = 2048;

    private KernelTiming() {}

    /// Runs the timing.
    ///
    /// @param args feature set, megabytes of weights, rounds, formats with commas between them
    public static void main(String[] args) throws InterruptedException {
        FeatureSet set = FeatureSet.valueOf(
                args.length > 0 ? args[0].toUpperCase(Locale.ROOT).replace("AVXVNNI", "AVX_VNNI") : "AVX512");
        long bytes = (args.length > 1 ? Long.parseLong(args[1]) : 1024) << 20;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 7;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(bytes, 64);
            System.out.printf(
                    Locale.ROOT,
                    "%-8s read %.1f / %.1f GB/s on 1 / 2 threads%n",
                    set.id,
                    read(memory, 1, rounds),
                    read(memory, 2, rounds));
            for (MachineKernel kernel : Formats.kernels(set)) {
                if (args.length <= 3 || List.of(args[3].split(",")).contains(kernel.format())) {
                    time(kernel, memory, rounds);
                }
            }
        }
    }

    private static void time(MachineKernel timed, MemorySegment memory, int rounds) throws InterruptedException {
        long matrix = ROWS * timed.weightBytes(N);
        int copies = (int) (memory.byteSize() / matrix);
        try (Arena arena = Arena.ofShared();
                MachineKernel kernel = timed) {
            MemorySegment one = TestRows.FORMATS.stream()
                    .filter(f -> f.toString().equals(kernel.format()))
                    .findFirst()
                    .map(f -> TestRows.weights(arena, f, ROWS, N, 1, 0))
                    .orElseGet(() -> arena.allocate(matrix));
            for (int i = 0; i < copies; i++) {
                memory.asSlice(i * matrix, matrix).copyFrom(one);
            }
            StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%-16s", kernel.name()));
            for (int threads = 1; threads <= 2; threads++) {
                double s = run(kernel, arena, memory, matrix, copies, 1, threads, rounds);
                line.append(String.format(Locale.ROOT, " %6.1f GB/s", copies * matrix / s / 1e9));
            }
            for (int tokens : new int[] {2, 4, 8, 12, 16, 32, 128, 512}) {
                double s = run(kernel, arena, memory, matrix, 1, tokens, 1, rounds);
                line.append(String.format(Locale.ROOT, "  %d: %.0f", tokens, 2.0 * ROWS * N * tokens / s / 1e9));
            }
            double s = run(kernel, arena, memory, matrix, 1, 128, 2, rounds);
            line.append(String.format(Locale.ROOT, "  128 on 2: %.0f GFLOP/s", 2.0 * ROWS * N * 128 / s / 1e9));
            HostFloats x = new HostFloats(TestRows.activations(1, N, 3));
            MemorySegment packed = arena.allocate(kernel.packedBytes(N), 64);
            long best = Long.MAX_VALUE;
            for (int r = 0; r < 20 * rounds; r++) {
                long start = System.nanoTime();
                for (int i = 0; i < 100; i++) {
                    kernel.pack(x, 0, N, packed);
                }
                best = Math.min(best, System.nanoTime() - start);
            }
            System.out.println(line.append(String.format(Locale.ROOT, "  pack %.2f us", best / 100e3)));
        }
    }

    /// {@return seconds of the best round}
    private static double run(
            PackedKernel kernel,
            Arena arena,
            MemorySegment memory,
            long matrix,
            int copies,
            int tokens,
            int threads,
            int rounds)
            throws InterruptedException {
        MemorySegment packed = TestRows.pack(arena, kernel, TestRows.activations(tokens, N, 2), tokens, N);
        HostFloats out = new HostFloats(new float[tokens * ROWS]);
        long rowBytes = matrix / ROWS;
        return best(threads, rounds, thread -> {
            int per = ROWS / threads;
            MemorySegment scratch = arena.allocate(kernel.scratchBytes(N, tokens), 64);
            return () -> {
                for (int c = 0; c < copies; c++) {
                    kernel.run(
                            memory,
                            rowBytes,
                            c * ROWS + thread * per,
                            per,
                            N,
                            packed,
                            tokens,
                            out,
                            thread * per,
                            ROWS,
                            scratch);
                }
            };
        });
    }

    private static double read(MemorySegment memory, int threads, int rounds) throws InterruptedException {
        Assembler a = new Assembler(false);
        a.label("loop");
        for (int i = 0; i < 8; i++) {
            a.vpor(Operand.ymm(i), Operand.ymm(i), Operand.mem(Operand.Gpr.RDI, 32 * i));
        }
        a.add(Operand.Gpr.RDI, 256);
        a.sub(Operand.Gpr.RCX, 256);
        a.j(Assembler.If.GREATER, "loop");
        a.vzeroupper();
        a.ret();
        try (CodeMemory code = new CodeMemory("timed", a.assemble())) {
            MemorySegment function = code.entry(0);
            long part = memory.byteSize() / threads / 256 * 256;
            double s = best(threads, rounds, thread -> {
                MemorySegment slice = memory.asSlice(thread * part, part);
                return () -> CodeMemory.Call.plain(function, slice, slice, slice, part, 0, 0, 0, 0, 0, 0, 0);
            });
            return part * threads / s / 1e9;
        }
    }

    private interface Work {
        Runnable of(int thread);
    }

    private static double best(int threads, int rounds, Work work) throws InterruptedException {
        List<Runnable> parts = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            parts.add(work.of(t));
        }
        long best = Long.MAX_VALUE;
        for (int round = 0; round < rounds; round++) {
            CountDownLatch ready = new CountDownLatch(threads - 1);
            CountDownLatch go = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(threads - 1);
            for (int t = 1; t < threads; t++) {
                Runnable part = parts.get(t);
                Thread.ofPlatform().daemon().start(() -> {
                    ready.countDown();
                    try {
                        go.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    part.run();
                    done.countDown();
                });
            }
            ready.await();
            long start = System.nanoTime();
            go.countDown();
            parts.get(0).run();
            done.await();
            best = Math.min(best, System.nanoTime() - start);
        }
        return best / 1e9;
    }
}
