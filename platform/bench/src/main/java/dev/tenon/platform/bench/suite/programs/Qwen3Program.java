package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.core.control.EngineControl;
import java.util.List;
import java.util.Map;

/// `qwen3`: Qwen3 0.6B Q8_0 and 1.7B Q4_K_M.
final class Qwen3Program implements Program {
    private static final String TUNED = "tuned";

    @Override
    public String name() {
        return "qwen3";
    }

    @Override
    public String about() {
        return "Qwen3 0.6B Q8_0 and 1.7B Q4_K_M: prompt and decoding, with and without tuned settings";
    }

    @Override
    public int seconds() {
        return 90;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        ModelSpeed speed = new ModelSpeed(run);
        for (ModelSpec spec : List.of(run.model("qwen3-0.6b", "Q8_0"), run.model("qwen3-1.7b", "Q4_K_M"))) {
            for (Backend backend : run.backends()) {
                ModelSpeed.Setup setup = new ModelSpeed.Setup(
                                backend,
                                new BenchTest(0, speed.tokensToDecode(spec, backend), 0),
                                new BenchTest(128, 0, 0))
                        .withSettings(Map.of(TUNED, "off"));
                speed.measure(spec, setup, Place.NONE);
                run.attempt(spec.label() + " tuned", () -> {
                    requireTuned(run, spec, backend);
                    speed.measure(spec, setup.withSettings(Map.of(TUNED, "on")).labelled("tuned"), Place.NONE);
                });
            }
            run.files().drop(spec);
        }
    }

    /// @throws SkipException if nothing was tuned for the model on the backend
    private static void requireTuned(ProgramRun run, ModelSpec spec, Backend backend) {
        LoadRequest request = LoadRequest.builder(run.files().file(spec))
                .backend(backend.id())
                .threads(run.options().team())
                .build();
        boolean tuned = run.engine() instanceof EngineControl control
                && control.explain(request).stream()
                        .anyMatch(selection -> selection.kind().equals(TUNED));
        if (!tuned) {
            throw new SkipException("nothing is tuned for its shape on " + backend.id() + "; 'tenon tune' does that");
        }
    }
}
