package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.report.Measurement.Place;
import java.util.List;
import java.util.stream.IntStream;

/// `scaling`: models of 1, 3 and 8 B parameters, and one model with growing numbers of threads.
final class ScalingProgram implements Program {
    private static final List<String> PRESETS = List.of("llama-3.2-1b", "llama-3.2-3b", "llama-3-8b");
    private static final int PROMPT = 64;

    @Override
    public String name() {
        return "scaling";
    }

    @Override
    public String about() {
        return "Llama of 1, 3 and 8 B parameters in Q4_K_M as memory allows; threads from one to all";
    }

    @Override
    public int seconds() {
        return 140;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        ModelSpeed speed = new ModelSpeed(run);
        for (String preset : PRESETS) {
            ModelSpec spec = run.model(preset, "Q4_K_M");
            for (Backend backend : run.backends()) {
                int tokens = Math.min(16, speed.tokensToDecode(spec, backend));
                double gigabytes = run.files().bytes(spec) / 1e9;
                speed.measure(
                        spec,
                        new ModelSpeed.Setup(backend, new BenchTest(0, tokens, 0), new BenchTest(PROMPT, 0, 0))
                                .withMemory(),
                        new Place("GB of weights", backend.id(), gigabytes));
            }
            if (!preset.equals(PRESETS.getFirst())) {
                run.files().drop(spec);
            }
        }
        ModelSpec spec = run.model(PRESETS.getFirst(), "Q4_K_M");
        for (Backend backend : run.backends()) {
            if (run.isHost(backend)) {
                int team = run.options().team();
                int[] counts = IntStream.iterate(1, n -> n < team, n -> 2 * n).toArray();
                for (int threads : IntStream.concat(IntStream.of(counts), IntStream.of(team))
                        .toArray()) {
                    int tokens = Math.min(16, speed.tokensToDecode(spec, backend));
                    speed.measure(
                            spec,
                            new ModelSpeed.Setup(backend, new BenchTest(0, tokens, 0), new BenchTest(PROMPT, 0, 0))
                                    .withThreads(threads)
                                    .labelled("threads " + threads),
                            new Place("threads", backend.id(), threads));
                }
            }
        }
        run.files().drop(spec);
    }
}
