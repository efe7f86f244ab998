package dev.tenon.backend.cpu.vector;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.quant.formats.Q6_KFormat;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Prints how long the first decoded tokens of a process take against later ones: 16 layers with the shapes
/// of Llama-3.2-1B in Q6_K, and a prompt. Not a test. Arguments: threads, tokens of the prompt,
/// `on` or `off` for the warm-up, and milliseconds that the plan is left alone before the prompt.
final class FirstTokensTiming {
    public static void main(String[] args) throws InterruptedException {
        int threads = Integer.parseInt(args[0]);
        TestWeights weights = new TestWeights();
        var graph = PlanTiming.graph(new Q6_KFormat(), 16, weights);
        PlanOptions.KvType kv = PlanOptions.KvType.F16;
        int promptTokens = Integer.parseInt(args[1]);
        try (Device device = new CpuVectorBackend().open(new DeviceOptions("", threads, Map.of()));
                Plan plan = device.compiler()
                        .compile(new CompileRequest(
                                graph,
                                weights,
                                new PlanOptions(512, 1, 1024, kv, kv, true, Map.of("warmup", args[2])),
                                List.of()))) {
            Thread.sleep(Long.parseLong(args[3]));
            int[] pages = new int[plan.kvPages().pageCount()];
            Arrays.setAll(pages, i -> i);
            StepInput input = new StepInput();
            input.addSequence(pages);
            for (int t = 0; t < promptTokens; t++) {
                input.addToken(t, t, t == promptTokens - 1);
            }
            long start = System.nanoTime();
            plan.run(input);
            double prompt = (System.nanoTime() - start) / 1e6;
            double[] ms = new double[100];
            for (int t = 0; t < ms.length; t++) {
                long s = System.nanoTime();
                input.clear();
                input.addSequence(pages);
                input.addToken(t, promptTokens + t, true);
                plan.run(input);
                ms[t] = (System.nanoTime() - s) / 1e6;
            }
            double first = Arrays.stream(ms, 0, 20).average().orElseThrow();
            double steady =
                    Arrays.stream(ms, 60, 100).sorted().skip(20).findFirst().orElseThrow();
            System.out.printf(
                    Locale.ROOT,
                    "prompt of %d tokens %.0f ms, token 1 %.1f ms, tokens 1-20 %.1f ms each, steady %.1f ms: %.2f"
                            + " of the steady speed; load %.1f%n",
                    promptTokens,
                    prompt,
                    ms[0],
                    first,
                    steady,
                    steady / first,
                    ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
        }
    }
}
