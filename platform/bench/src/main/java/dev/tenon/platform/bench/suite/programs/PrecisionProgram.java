package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.measure.MatrixPlan;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.Unit;
import java.util.Arrays;
import java.util.List;

/// `precision`: weights and cached keys and values of five and three types: error and speed of a
/// product, speed of decoding.
final class PrecisionProgram implements Program {
    private static final List<String> TYPES = List.of("Q8_0", "Q4_K", "F16", "BF16", "F32");
    private static final int SIZE = 512;
    private static final int BATCH = 512;
    private static final int LAYERS = 8;
    private static final int DEPTH = 1024;
    private static final long MILLI = 1_000_000;

    @Override
    public String name() {
        return "precision";
    }

    @Override
    public String about() {
        return "weights in F32, F16, BF16, Q8_0, Q4_K and cached values in F32, F16, Q8_0: error, product, decoding";
    }

    @Override
    public int seconds() {
        return 150;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        ModelSpeed speed = new ModelSpeed(run);
        for (String type : TYPES) {
            String testCase = "product " + type;
            for (Backend backend : run.backends()) {
                run.attempt(testCase + " on " + backend.id(), () -> product(run, backend, type, testCase));
            }
        }
        ModelSpec cached = run.model("llama-3.2-1b", "Q6_K");
        int depth = run.options().quick() ? 32 : DEPTH;
        for (KvType cache : KvType.values()) {
            for (Backend backend : run.backends()) {
                speed.measure(
                        cached,
                        new ModelSpeed.Setup(backend, new BenchTest(0, 8, depth))
                                .withCache(cache)
                                .labelled("cache " + cache),
                        Place.NONE);
            }
        }
        for (String type : TYPES) {
            ModelSpec spec = run.model("qwen3-0.6b", type);
            for (Backend backend : run.backends()) {
                int tokens = speed.tokensToDecode(spec, backend);
                speed.measure(
                        spec,
                        new ModelSpeed.Setup(backend, new BenchTest(0, tokens, 0), new BenchTest(64, 0, 0)),
                        Place.NONE);
            }
            run.files().drop(spec);
        }
    }

    private static void product(ProgramRun run, Backend backend, String type, String testCase) {
        QuantFormat f32 = KernelsProgram.f32(run);
        QuantFormat format = run.engine().formats().stream()
                .filter(f -> f.id().equals(type) && f.quantizer().isPresent())
                .findFirst()
                .orElseThrow(() -> new SkipException("no installed format writes " + type));
        int threads = run.options().threads();
        try (MatrixPlan one = new MatrixPlan(
                backend,
                new MatrixPlan.Shape(SIZE, 0, f32, SIZE, format, 1, threads),
                f32,
                run.engine().kernelProviders(),
                run.settings(backend))) {
            run.add(testCase, backend.id(), "error", Unit.ERROR, one.error());
        }
        try (MatrixPlan many = new MatrixPlan(
                backend,
                new MatrixPlan.Shape(2 * SIZE, LAYERS, format, SIZE, f32, BATCH, threads),
                f32,
                run.engine().kernelProviders(),
                run.settings(backend))) {
            double flops = 2.0 * 2 * SIZE * 2 * SIZE * LAYERS * BATCH;
            run.add(
                    testCase,
                    backend.id(),
                    "matrix × " + BATCH + " vectors",
                    Unit.GIGAFLOPS,
                    Arrays.stream(many.steps(BATCH, 200 * MILLI, 500 * MILLI, 50))
                            .map(ns -> flops / ns)
                            .toArray());
        }
    }
}
