package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.report.Measurement.Place;

/// `decode`: a model of 1 B parameters on each backend, prompts of four lengths and decoding.
final class DecodeProgram implements Program {
    @Override
    public String name() {
        return "decode";
    }

    @Override
    public String about() {
        return "Llama 3.2 1B Q6_K: prompts of 32 to 512 tokens and decoding, on each backend";
    }

    @Override
    public int seconds() {
        return 100;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        ModelSpec spec = run.model("llama-3.2-1b", "Q6_K");
        ModelSpeed speed = new ModelSpeed(run);
        for (Backend backend : run.backends()) {
            int tokens = 2 * speed.tokensToDecode(spec, backend);
            BenchTest[] tests = run.options().quick()
                    ? new BenchTest[] {new BenchTest(0, tokens, 0), new BenchTest(32, 0, 0)}
                    : new BenchTest[] {
                        new BenchTest(0, tokens, 0),
                        new BenchTest(128, 0, 0),
                        new BenchTest(512, 0, 0),
                        new BenchTest(32, 0, 0),
                        new BenchTest(256, 0, 0)
                    };
            speed.measure(spec, new ModelSpeed.Setup(backend, tests).withMemory(), Place.NONE);
        }
        run.files().drop(spec);
    }
}
