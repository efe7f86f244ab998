package dev.tenon.backend.cpu.vector;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.quant.formats.Q4_KFormat;
import dev.tenon.quant.formats.Q6_KFormat;
import dev.tenon.quant.formats.Q8_0Format;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// Prints rough speeds of whole steps: four layers with the shapes of Llama-3.2-1B, random weights, a
/// small vocabulary.
/// Not a test and not a benchmark. Arguments: format, threads.
final class PlanTiming {
    private static final int WIDTH = 2048;
    private static final int FEED_FORWARD = 8192;

    public static void main(String[] args) {
        QuantFormat format = switch (args[0]) {
            case "Q8_0" -> new Q8_0Format();
            case "Q4_K" -> new Q4_KFormat();
            default -> new Q6_KFormat();
        };
        TestWeights weights = new TestWeights();
        Graph graph = graph(format, 4, weights);
        try (Device device = new CpuVectorBackend().open(new DeviceOptions("", Integer.parseInt(args[1]), Map.of()));
                Plan plan = device.compiler()
                        .compile(new CompileRequest(
                                graph,
                                weights,
                                new PlanOptions(
                                        512, 1, 1024, PlanOptions.KvType.F16, PlanOptions.KvType.F16, true, Map.of()),
                                List.of()))) {
            int[] pages = new int[plan.kvPages().pageCount()];
            Arrays.setAll(pages, i -> i);
            StepInput input = new StepInput();
            for (int round = 0; round < 4; round++) {
                long start = System.nanoTime();
                input.clear();
                input.addSequence(pages);
                for (int t = 0; t < 128; t++) {
                    input.addToken(t, t, t == 127);
                }
                plan.run(input);
                double prefill = (System.nanoTime() - start) / 1e9;
                double best = 1e9;
                start = System.nanoTime();
                for (int t = 128; t < 192; t++) {
                    long s = System.nanoTime();
                    input.clear();
                    input.addSequence(pages);
                    input.addToken(t, t, true);
                    plan.run(input);
                    best = Math.min(best, (System.nanoTime() - s) / 1e9);
                }
                double decode = (System.nanoTime() - start) / 1e9 / 64;
                double bytes = plan.report().weightBytesPerToken();
                System.out.printf(
                        Locale.ROOT,
                        "%s: prefill %.0f GFLOP/s, decode %.1f GB/s (best step %.1f), %.1f MB a token%n",
                        plan.report().steps().get(1).kernel(),
                        128 * 4 * 2 * 60.8e6 / prefill / 1e9,
                        bytes / decode / 1e9,
                        bytes / best / 1e9,
                        bytes / 1e6);
            }
        }
    }

    /// {@return a graph with the shapes of Llama-3.2-1B, but a small vocabulary}
    static Graph graph(QuantFormat format, int layers, TestWeights weights) {
        float[] values = new float[WIDTH * FEED_FORWARD];
        Random random = new Random(1);
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian() / 45;
        }
        GraphBuilder b = new GraphBuilder("timing");
        RopeParams rope = new RopeParams(64, 64, RopeParams.Pairing.INTERLEAVED, 500000, 1, Optional.empty());
        Weight table = weights.putRandom("embd", WIDTH, 8192, format, values);
        Value x = b.embedding("embd", table);
        for (int l = 0; l < layers; l++) {
            Weight norm = weights.putRandom(l + "norm", WIDTH, 1, TestWeights.F32, values);
            Value n = b.rmsNorm("n", x, norm, 1e-5f);
            Value q = b.linear("q", n, weights.putRandom(l + "q", WIDTH, 2048, format, values), Optional.empty());
            Value k = b.linear("k", n, weights.putRandom(l + "k", WIDTH, 512, format, values), Optional.empty());
            Value v = b.linear("v", n, weights.putRandom(l + "v", WIDTH, 512, format, values), Optional.empty());
            Value a = b.attention("a", b.rope("q", q, rope), b.rope("k", k, rope), v, l, 32, 8, 0.125f);
            x = b.add(
                    "r",
                    x,
                    b.linear("o", a, weights.putRandom(l + "o", 2048, WIDTH, format, values), Optional.empty()));
            n = b.rmsNorm("n", x, norm, 1e-5f);
            Value g =
                    b.linear("g", n, weights.putRandom(l + "g", WIDTH, FEED_FORWARD, format, values), Optional.empty());
            Value u =
                    b.linear("u", n, weights.putRandom(l + "u", WIDTH, FEED_FORWARD, format, values), Optional.empty());
            Value h = b.multiply("h", b.activate("s", g, Activation.SILU), u);
            x = b.add(
                    "r",
                    x,
                    b.linear(
                            "d", h, weights.putRandom(l + "d", FEED_FORWARD, WIDTH, format, values), Optional.empty()));
        }
        return b.build(b.linear("logits", b.selectRows("s", x), table, Optional.empty()));
    }
}
