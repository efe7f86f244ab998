package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.report.Measurement.Place;

/// `batch`: one to 256 sequences at once, decoding alone and with prompts.
final class BatchProgram implements Program {
    private static final int[] SEQUENCES = {1, 4, 16, 64, 256};

    @Override
    public String name() {
        return "batch";
    }

    @Override
    public String about() {
        return "Llama 3.2 1B Q4_K_M: 1 to 256 sequences at once, decoding, and prompts with decoding";
    }

    @Override
    public int seconds() {
        return 130;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        ModelSpeed speed = new ModelSpeed(run);
        ModelSpec spec = run.model("llama-3.2-1b", "Q4_K_M");
        for (int n : SEQUENCES) {
            if (run.options().quick() && n > 4) {
                break;
            }
            int tokens = n >= 64 ? 4 : 8;
            BenchTest decode = new BenchTest(0, tokens, 0, n);
            BenchTest mix = new BenchTest(n >= 16 ? 16 : 64, tokens, 0, n);
            for (Backend backend : run.backends()) {
                speed.measure(
                        spec, new ModelSpeed.Setup(backend, decode, mix), new Place("sequences", backend.id(), n));
            }
        }
        run.files().drop(spec);
    }
}
