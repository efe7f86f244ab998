package dev.tenon.backend.cpu.vector;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.backend.cpu.vector.kv.CpuKv;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;

/// Prints rough speeds of attention: layers of nothing else, filled by prefill chunks of 512 tokens, then
/// decoded. Not a test and not a benchmark. Arguments: threads, heads, key heads, head size, depth. Kernels of other
/// bundles are taken from the class path.
final class AttentionTiming {
    private static final int LAYERS = 8;

    public static void main(String[] args) {
        int threads = Integer.parseInt(args[0]);
        int heads = Integer.parseInt(args[1]);
        int headsKv = Integer.parseInt(args[2]);
        int size = Integer.parseInt(args[3]);
        int depth = Integer.parseInt(args[4]);
        for (PlanOptions.KvType type : PlanOptions.KvType.values()) {
            TestWeights weights = new TestWeights();
            float[] values = new float[size * heads * 16];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) Math.sin(i * 1.3);
            }
            Weight kTable = weights.putRandom("k", size * headsKv, 64, TestWeights.F32, values);
            GraphBuilder b = new GraphBuilder("timing");
            Value k = b.embedding("k", kTable);
            Value x = b.embedding("q", weights.putRandom("q", size * heads, 64, TestWeights.F32, values));
            for (int l = 0; l < LAYERS; l++) {
                x = b.attention("a", x, k, k, l, heads, headsKv, 1 / (float) Math.sqrt(size));
            }
            Graph graph = b.build(b.selectRows("s", x));
            try (Device device = new CpuVectorBackend().open(new DeviceOptions("", threads, Map.of()));
                    Plan plan = device.compiler()
                            .compile(new CompileRequest(
                                    graph,
                                    weights,
                                    new PlanOptions(512, 1, depth + 200, type, type, true, Map.of()),
                                    ServiceLoader.load(KernelProvider.class).stream()
                                            .map(ServiceLoader.Provider::get)
                                            .toList()))) {
                System.out.println(plan.report().steps().get(2).kernel());
                for (int round = 0; round < 3; round++) {
                    measure(plan, type, heads, headsKv, size, depth);
                }
            }
        }
    }

    private static void measure(Plan plan, PlanOptions.KvType type, int heads, int headsKv, int size, int depth) {
        int[] pages = new int[plan.kvPages().pageCount()];
        Arrays.setAll(pages, i -> i);
        StepInput input = new StepInput();
        double first = 0;
        double last = 0;
        for (int from = 0; from < depth; from += 512) {
            input.clear();
            input.addSequence(pages);
            for (int t = from; t < from + 512; t++) {
                input.addToken(t % 64, t, t == from + 511);
            }
            long start = System.nanoTime();
            plan.run(input);
            last = (System.nanoTime() - start) / 1e9;
            first = from == 0 ? last : first;
        }
        int tokens = 100;
        double best = 1e9;
        long start = System.nanoTime();
        for (int t = depth; t < depth + tokens; t++) {
            input.clear();
            input.addSequence(pages);
            input.addToken(t % 64, t, true);
            long s = System.nanoTime();
            plan.run(input);
            best = Math.min(best, (System.nanoTime() - s) / 1e9);
        }
        double decode = (System.nanoTime() - start) / 1e9 / tokens;
        double bytes = (double) plan.kvPages().pageBytes() * depth / CpuKv.TOKENS;
        double flops = 4.0 * size * heads * 512 * 256 * LAYERS;
        System.out.printf(
                Locale.ROOT,
                "%s %d/%dx%d: prefill at 0 %.2f ms a layer (%.0f GFLOP/s), at %d %.2f ms; decode %.1f us a layer, %.1f GB/s"
                        + " (best %.1f); load %.1f%n",
                type,
                heads,
                headsKv,
                size,
                first * 1e3 / LAYERS,
                flops / first / 1e9,
                depth - 512,
                last * 1e3 / LAYERS,
                decode * 1e6 / LAYERS,
                bytes / decode / 1e9,
                bytes / best / 1e9,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }
}
