package dev.tenon.kernels.x86;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;

/// Prints the ceiling of prompts here and now: products of registers without any load, GFLOP/s of each thread.
/// Not a test. Arguments: seconds of each kind (default 1).
///
/// Two rates: byte products (`vpdpbusd`, what [PanelCode512] is made of) and fused multiply-adds of float32
/// (what the Vector API has), 512 and 256 bits, on one thread alone and on two at once. On a shared host they
/// differ by a factor of three from one minute to the next, so print them beside what they are compared with.
final class ProductTiming {
    private static final int SUMS = 12;
    private static final int TURNS = 50_000;

    private ProductTiming() {}

    public static void main(String[] args) throws InterruptedException {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 1;
        for (FeatureSet set : LinearKernelTests.HERE) {
            for (boolean bytes : set == FeatureSet.AVX2 ? new boolean[] {false} : new boolean[] {true, false}) {
                int lanes = set == FeatureSet.AVX512 ? 16 : 8;
                double flops = 2.0 * (bytes ? 4 : 1) * lanes * SUMS * TURNS;
                try (CodeMemory code = new CodeMemory("timed", products(set, bytes))) {
                    for (int threads = 1; threads <= 2; threads++) {
                        double[] rounds = rounds(code.entry(0), threads, seconds);
                        System.out.printf(
                                Locale.ROOT,
                                "%-7s %-12s %d thread(s): %.0f GFLOP/s each (median of %d rounds; best %.0f)%n",
                                set.id,
                                bytes ? "int8 products" : "float32 FMA",
                                threads,
                                flops / rounds[rounds.length / 2] / 1e9,
                                rounds.length,
                                flops / rounds[0] / 1e9);
                    }
                }
            }
        }
    }

    /// Twelve sums that do not wait for each other, a number of turns in the first number.
    private static byte[] products(FeatureSet set, boolean bytes) {
        Assembler a = new Assembler(set == FeatureSet.AVX512);
        Operand.Vec left = register(set, SUMS);
        Operand.Vec right = register(set, SUMS + 1);
        for (int i = 0; i < SUMS + 2; i++) {
            a.vpxor(register(set, i), register(set, i), register(set, i));
        }
        a.label("turn");
        for (int i = 0; i < SUMS; i++) {
            if (bytes) {
                a.vpdpbusd(register(set, i), left, right);
            } else {
                a.vfmadd231ps(register(set, i), left, right);
            }
        }
        a.sub(Operand.Gpr.RCX, 1);
        a.j(Assembler.If.GREATER, "turn");
        a.vzeroupper();
        a.ret();
        return a.assemble();
    }

    private static Operand.Vec register(FeatureSet set, int i) {
        return set == FeatureSet.AVX512 ? Operand.zmm(i) : Operand.ymm(i);
    }

    /// {@return seconds of rounds in which every thread made all its turns, ascending}
    private static double[] rounds(MemorySegment function, int threads, double seconds) throws InterruptedException {
        MemorySegment none = MemorySegment.NULL;
        double[] times = new double[10_000];
        int n = 0;
        long end = System.nanoTime() + (long) (seconds * 1e9);
        CountDownLatch done = new CountDownLatch(threads - 1);
        for (int t = 1; t < threads; t++) {
            Thread.ofPlatform().daemon().start(() -> {
                while (System.nanoTime() < end) {
                    CodeMemory.Call.plain(function, none, none, none, TURNS, 0, 0, 0, 0, 0, 0, 0);
                }
                done.countDown();
            });
        }
        while (System.nanoTime() < end && n < times.length) {
            long start = System.nanoTime();
            CodeMemory.Call.plain(function, none, none, none, TURNS, 0, 0, 0, 0, 0, 0, 0);
            times[n++] = (System.nanoTime() - start) / 1e9;
        }
        done.await();
        times = Arrays.copyOf(times, n);
        Arrays.sort(times);
        return times;
    }
}
