package dev.tenon.platform.bench.suite.programs;

import dev.tenon.api.device.Backend;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.Unit;
import java.util.List;

/// `models`: several architectures one after the other in one process, and what memory they leave.
final class ModelsProgram implements Program {
    private static final List<ModelSpec> MODELS = List.of(
            new ModelSpec("qwen3-0.6b", "Q8_0"),
            new ModelSpec("llama-3.2-1b", "Q4_K_M"),
            new ModelSpec("gemma-3-1b", "Q4_K_M"),
            new ModelSpec("olmo-2-1b", "Q4_K_M"),
            new ModelSpec("olmoe-1b-7b", "Q4_K_M"),
            new ModelSpec("qwen3-1.7b", "Q4_K_M"),
            new ModelSpec("granite-3.3-2b", "Q4_K_M"),
            new ModelSpec("phi-4-mini", "Q4_K_M"),
            new ModelSpec("smollm3-3b", "Q4_K_M"),
            new ModelSpec("gpt-oss-20b", "MXFP4_MOE"));

    @Override
    public String name() {
        return "models";
    }

    @Override
    public String about() {
        return "architectures one after the other: Llama, Qwen3, Gemma, OLMo, OLMoE, Granite, Phi, SmolLM3, gpt-oss";
    }

    @Override
    public int seconds() {
        return 180;
    }

    @Override
    public void run(ProgramRun run) throws InterruptedException {
        ModelSpeed speed = new ModelSpeed(run);
        for (ModelSpec model : MODELS) {
            ModelSpec spec = run.model(model.preset(), model.type());
            for (Backend backend : run.backends()) {
                BenchTest decode = new BenchTest(0, Math.min(16, speed.tokensToDecode(spec, backend)), 0);
                BenchTest[] tests = {decode, new BenchTest(run.options().quick() ? 32 : 128, 0, 0)};
                speed.measure(spec, new ModelSpeed.Setup(backend, tests).withMemory(), Place.NONE);
            }
            run.files().drop(spec);
        }
        long resident = run.residentBytes();
        if (resident > 0) {
            run.add("after all are closed", "process", "resident", Unit.MEBIBYTES, resident / (double) (1 << 20));
        }
    }
}
