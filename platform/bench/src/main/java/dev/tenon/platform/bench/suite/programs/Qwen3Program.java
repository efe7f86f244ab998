package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.ReportTable;
import dev.tenon.platform.core.control.EngineControl;
import dev.tenon.platform.core.control.Selection.Candidate;
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
                run.attempt(spec.label() + " tuned on " + backend.id(), () -> {
                    requireTuned(run, spec, backend);
                    speed.measure(spec, setup.withSettings(Map.of(TUNED, "on")).labelled("tuned"), Place.NONE);
                });
            }
            run.files().drop(spec);
        }
    }

    /// Tells what the model runs with on the backend.
    ///
    /// @throws SkipException if nothing was tuned, or what was tuned is not used
    private static void requireTuned(ProgramRun run, ModelSpec spec, Backend backend) {
        LoadRequest request = LoadRequest.builder(run.files().file(spec))
                .backend(backend.id())
                .threads(run.options().team())
                .build();
        Candidate tuned = run.engine() instanceof EngineControl control
                ? control.explain(request).stream()
                        .filter(selection -> selection.kind().equals(TUNED))
                        .map(selection -> selection.candidates().getFirst())
                        .findFirst()
                        .orElse(null)
                : null;
        if (tuned == null) {
            throw new SkipException("nothing is tuned for its shape; 'tenon tune' does that");
        }
        if (!tuned.taken()) {
            throw new SkipException("it runs with the defaults: " + tuned.reason());
        }
        run.add(new ReportTable(
                "Tuned settings of " + spec.label() + " on " + backend.id(),
                List.of("settings", "gain when it was tuned"),
                List.of(List.of(tuned.name(), tuned.reason()))));
    }
}
