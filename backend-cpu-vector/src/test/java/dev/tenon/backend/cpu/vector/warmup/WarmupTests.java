package dev.tenon.backend.cpu.vector.warmup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.TinyModel;
import dev.tenon.quant.formats.Q6_KFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WarmupTests {
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final TinyModel model = TinyModel.create(11, new Q6_KFormat(), true);
    private Device device;

    @BeforeEach
    void openDevice() {
        CpuVectorBackend backend = new CpuVectorBackend();
        assumeTrue(
                backend.probe().issues().isEmpty(),
                "there are no vector kernels to warm up: " + backend.probe().issues());
        device = backend.open(DeviceOptions.builder().threads(2).build());
    }

    @AfterEach
    void closeDevice() {
        if (device != null) {
            device.close();
        }
    }

    private Plan plan(KvType kv, Map<String, String> settings) {
        return device.compiler()
                .compile(CompileRequest.of(
                        model.graph(),
                        model.weights(),
                        PlanOptions.builder(256)
                                .maxBatchTokens(160)
                                .keyType(kv)
                                .valueType(kv)
                                .settings(settings)
                                .build()));
    }

    /// A prompt of 90 tokens, then 40 tokens one by one; the logits after each step.
    private static List<float[]> run(Plan plan) {
        List<float[]> all = new ArrayList<>();
        StepInput input = new StepInput();
        for (int next = 0; next < 130; ) {
            int end = next == 0 ? 90 : next + 1;
            input.clear();
            input.addSequence(new int[] {3, 1, 2});
            for (int t = next; t < end; t++) {
                input.addToken(t % TinyModel.VOCABULARY, t, t == end - 1);
            }
            StepResult result = plan.run(input);
            float[] logits = new float[TinyModel.VOCABULARY];
            result.logits(0, logits);
            all.add(logits);
            next = end;
        }
        return all;
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("tenon-warmup"))
                .count();
    }

    @ParameterizedTest
    @EnumSource(KvType.class)
    void stepsGiveTheSameBitsBeforeWhileAndAfterKernelsAreWarmedUp(KvType kv) throws InterruptedException {
        List<float[]> expected;
        try (Plan plan = plan(kv, Map.of())) {
            assertEquals(0, threads());
            expected = run(plan);
        }
        try (Plan plan = plan(kv, Map.of("warmup", "on"))) {
            equal(expected, run(plan));
            long end = System.nanoTime() + PATIENCE_NANOS;
            while (!(Warmup.attentionReady() && Warmup.elementsReady())) {
                assertTrue(System.nanoTime() < end, "the warm-up of an idle plan does not end");
                equal(expected, run(plan));
                // Between steps the warm-up has the processors for itself.
                Thread.sleep(20);
            }
            equal(expected, run(plan));
        }
        assertEquals(0, threads());
    }

    @Test
    void theThreadEndsWithItsPlan() {
        for (int i = 0; i < 5; i++) {
            try (Plan plan = plan(KvType.F16, Map.of("warmup", "on"))) {
                assertFalse(plan.report().kernels().isEmpty());
            }
            assertEquals(0, threads());
        }
    }

    @Test
    void aStepThatDecodesIsOneTokenLongWhateverTheNumberOfSequences() {
        StepInput input = new StepInput();
        for (int sequence = 0; sequence < 3; sequence++) {
            input.addSequence(new int[] {sequence});
            input.addToken(0, 5, true);
        }
        assertEquals(1, Warmup.longest(input));
        input.addToken(0, 6, true);
        assertEquals(2, Warmup.longest(input));
        input.addSequence(new int[] {3});
        input.addToken(0, 0, true);
        assertEquals(2, Warmup.longest(input));
    }

    @Test
    void offStartsNoThread() {
        try (Plan plan = plan(KvType.F16, Map.of("warmup", "off"))) {
            assertEquals(0, threads());
            assertEquals(41, run(plan).size());
        }
    }

    private static void equal(List<float[]> expected, List<float[]> got) {
        assertEquals(expected.size(), got.size());
        for (int i = 0; i < expected.size(); i++) {
            assertArrayEquals(expected.get(i), got.get(i), "step " + i);
        }
    }
}
