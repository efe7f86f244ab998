package dev.tenon.backend.cpu.vector.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanProfile;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.StepInput;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.TinyModel;
import dev.tenon.quant.formats.Q8_0Format;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ProfileTests {
    private final Device device =
            new CpuVectorBackend().open(DeviceOptions.builder().threads(2).build());
    private final StepInput input = new StepInput();

    @AfterEach
    void closeDevice() {
        device.close();
    }

    private Plan compile(boolean fuse) {
        TinyModel model = TinyModel.create(1, new Q8_0Format(), false);
        return device.compiler()
                .compile(CompileRequest.of(
                        model.graph(),
                        model.weights(),
                        PlanOptions.builder(640)
                                .maxBatchTokens(16)
                                .maxSequences(4)
                                .fuse(fuse)
                                .build()));
    }

    private float[] decode(Plan plan, int position) {
        input.clear();
        input.addSequence(new int[] {0, 1});
        input.addToken(position % TinyModel.VOCABULARY, position, true);
        float[] logits = new float[TinyModel.VOCABULARY];
        plan.run(input).logits(0, logits);
        return logits;
    }

    @Test
    void everyKernelIsCountedAndTheirTimesFitIntoTheRuns() {
        try (Plan plan = compile(true)) {
            PlanProfiler profiler = plan.profiler().orElseThrow();
            decode(plan, 0);
            profiler.start();
            for (int t = 1; t <= 3; t++) {
                decode(plan, t);
            }
            PlanProfile profile = profiler.stop();
            assertEquals(3, profile.steps());
            assertEquals(3, profile.tokens());
            assertEquals(
                    plan.report().kernels(),
                    profile.entries().stream().map(PlanProfile.Entry::kernel).toList());
            long sum = 0;
            for (PlanProfile.Entry entry : profile.entries()) {
                assertEquals(3, entry.count(), entry.toString());
                assertTrue(entry.nanos() > 0, entry.toString());
                sum += entry.nanos();
            }
            assertTrue(sum <= profile.nanos(), sum + " of " + profile.nanos());
        }
    }

    @Test
    void bytesAreWeightsOnceARunAndCachedPositionsOnceASequence() {
        for (boolean fuse : new boolean[] {true, false}) {
            try (Plan plan = compile(fuse)) {
                PlanProfiler profiler = plan.profiler().orElseThrow();
                decode(plan, 0);
                decode(plan, 1);
                profiler.start();
                decode(plan, 2);
                PlanProfile profile = profiler.stop();
                long kv = 3L * 2 * TinyModel.HEADS_KV * 2 * TinyModel.HEAD_DIM * 2;
                assertEquals(
                        plan.report().weightBytesPerToken() + kv,
                        profile.entries().stream()
                                .mapToLong(PlanProfile.Entry::bytes)
                                .sum());
                assertEquals(
                        kv,
                        profile.entries().stream()
                                .filter(e -> e.kernel().op().equals("attention"))
                                .mapToLong(PlanProfile.Entry::bytes)
                                .sum());
            }
        }
    }

    @Test
    void batchesReadTheCacheOfEachSequence() {
        try (Plan plan = compile(true)) {
            PlanProfiler profiler = plan.profiler().orElseThrow();
            profiler.start();
            input.clear();
            input.addSequence(new int[] {0});
            for (int t = 0; t < 5; t++) {
                input.addToken(t, t, false);
            }
            input.addSequence(new int[] {1});
            input.addToken(7, 0, true);
            plan.run(input);
            PlanProfile profile = profiler.stop();
            assertEquals(1, profile.steps());
            assertEquals(6, profile.tokens());
            PlanProfile.Entry attention = profile.entries().stream()
                    .filter(e -> e.kernel().op().equals("attention"))
                    .findFirst()
                    .orElseThrow();
            assertEquals((5L + 1) * TinyModel.HEADS_KV * 2 * TinyModel.HEAD_DIM * 2, attention.bytes());
            PlanProfile.Entry embedding = profile.entries().getFirst();
            assertEquals("embedding", embedding.kernel().op());
            assertEquals(6 * new Q8_0Format().bytesFor(TinyModel.WIDTH), embedding.bytes());
        }
    }

    @Test
    void measuringChangesNoResultAndStopsWhenAsked() {
        try (Plan plan = compile(true);
                Plan other = compile(true)) {
            PlanProfiler profiler = plan.profiler().orElseThrow();
            profiler.start();
            for (int t = 0; t < 4; t++) {
                assertArrayEquals(decode(other, t), decode(plan, t));
            }
            assertEquals(4, profiler.stop().steps());
            decode(plan, 4);
            assertEquals(4, profiler.stop().steps());
            profiler.start();
            assertEquals(0, profiler.stop().steps());
        }
    }
}
