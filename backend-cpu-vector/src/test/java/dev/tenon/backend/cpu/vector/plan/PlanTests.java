package dev.tenon.backend.cpu.vector.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.TestWeights;
import dev.tenon.backend.cpu.vector.TinyModel;
import dev.tenon.itest.testkit.reference.Reference;
import dev.tenon.quant.formats.Q4_KFormat;
import dev.tenon.quant.formats.Q6_KFormat;
import dev.tenon.quant.formats.Q8_0Format;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

public class PlanTests {
    private final Device device =
            new CpuVectorBackend().open(DeviceOptions.builder().threads(3).build());

    @AfterEach
    void closeDevice() {
        device.close();
    }

    private static PlanOptions options(KvType kv, boolean fuse) {
        return PlanOptions.builder(640)
                .maxBatchTokens(160)
                .maxSequences(4)
                .keyType(kv)
                .valueType(kv)
                .fuse(fuse)
                .build();
    }

    private Plan compile(TinyModel model, KvType kv, boolean fuse) {
        return device.compiler().compile(CompileRequest.of(model.graph(), model.weights(), options(kv, fuse)));
    }

    private static int[] tokens(int count) {
        return new Random(5).ints(count, 0, TinyModel.VOCABULARY).toArray();
    }

    /// Feeds a sequence in chunks; gives the logits after every token.
    private static float[][] feed(Plan plan, int[] tokens, int chunk, int... pageTable) {
        float[][] logits = new float[tokens.length][TinyModel.VOCABULARY];
        StepInput input = new StepInput();
        for (int from = 0; from < tokens.length; from += chunk) {
            int to = Math.min(from + chunk, tokens.length);
            input.clear();
            input.addSequence(pageTable);
            for (int t = from; t < to; t++) {
                input.addToken(tokens[t], t, true);
            }
            StepResult result = plan.run(input);
            assertEquals(to - from, result.rows());
            for (int r = 0; r < result.rows(); r++) {
                result.logits(r, logits[from + r]);
            }
        }
        return logits;
    }

    public static double nmse(float[][] got, double[][] expected) {
        double error = 0;
        double size = 0;
        for (int t = 0; t < got.length; t++) {
            for (int i = 0; i < got[t].length; i++) {
                error += (got[t][i] - expected[t][i]) * (got[t][i] - expected[t][i]);
                size += expected[t][i] * expected[t][i];
            }
        }
        return error / size;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void logitsEqualTheReferenceFusedAndNot(boolean qkNorm) {
        TinyModel model = TinyModel.create(1, TestWeights.F32, qkNorm);
        int[] tokens = tokens(150);
        double[][] expected =
                new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
        for (boolean fuse : new boolean[] {true, false}) {
            try (Plan plan = compile(model, KvType.F32, fuse)) {
                double nmse = nmse(feed(plan, tokens, 150, 2, 0, 1), expected);
                assertTrue(nmse < 1e-10, "fuse " + fuse + ": " + nmse);
            }
        }
    }

    @Test
    void f16CacheStaysClose() {
        TinyModel model = TinyModel.create(2, TestWeights.F32, true);
        int[] tokens = tokens(100);
        double[][] expected =
                new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
        try (Plan plan = compile(model, KvType.F16, true)) {
            double nmse = nmse(feed(plan, tokens, 64, 9, 3), expected);
            assertTrue(nmse < 1e-6 && nmse > 1e-12, "NMSE " + nmse);
        }
    }

    @Test
    void cacheOfEightBitsStaysClose() {
        TinyModel model = TinyModel.create(2, TestWeights.F32, true);
        int[] tokens = tokens(100);
        double[][] expected =
                new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
        try (Plan plan = compile(model, KvType.Q8_0, true)) {
            assertEquals(2 * 2 * 2 * 64 * (64 + 2 * 2), plan.kvPages().pageBytes());
            double nmse = nmse(feed(plan, tokens, 64, 9, 3), expected);
            assertTrue(nmse < 4e-4 && nmse > 1e-8, "NMSE " + nmse);
        }
    }

    @ParameterizedTest
    @EnumSource(KvType.class)
    void decodingALongContextGivesTheBitsOfPrefill(KvType kv) {
        TinyModel model = TinyModel.create(6, TestWeights.F32, true);
        int[] tokens = tokens(590);
        int[] pages = {9, 1, 2, 3, 4, 5, 6, 7, 8, 0};
        try (Plan plan = compile(model, kv, true)) {
            float[][] whole = feed(plan, tokens, 160, pages);
            float[][] mixed = new float[tokens.length][];
            try (Device single = new CpuVectorBackend()
                            .open(DeviceOptions.builder().threads(1).build());
                    Plan other = single.compiler()
                            .compile(CompileRequest.of(model.graph(), model.weights(), options(kv, true)))) {
                System.arraycopy(feed(other, tokens, 1, pages), 0, mixed, 0, tokens.length);
            }
            float[][] decoded = feed(plan, tokens, 1, pages);
            for (int t = 0; t < tokens.length; t++) {
                assertArrayEquals(whole[t], decoded[t], "token " + t);
                assertArrayEquals(whole[t], mixed[t], "one thread, token " + t);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 16, 63, 64, 70, 150})
    void everyChunkSizeGivesTheSameBits(int chunk) {
        for (QuantFormat format : List.of(TestWeights.F32, new Q8_0Format(), new Q6_KFormat(), new Q4_KFormat())) {
            TinyModel model = TinyModel.create(3, format, true);
            int[] tokens = tokens(150);
            try (Plan plan = compile(model, KvType.F16, true)) {
                float[][] whole = feed(plan, tokens, 37, 0, 1, 2);
                float[][] chunked = feed(plan, tokens, chunk, 5, 4, 3);
                for (int t = 0; t < tokens.length; t++) {
                    assertArrayEquals(whole[t], chunked[t], format.id() + " token " + t);
                }
            }
        }
    }

    @Test
    void mixedSequencesDoNotSeeEachOther() {
        TinyModel model = TinyModel.create(4, TestWeights.F32, false);
        int[] tokens = tokens(90);
        try (Plan plan = compile(model, KvType.F32, true)) {
            float[][] alone = feed(plan, tokens, 90, 0, 1);
            int[] other = new Random(6).ints(70, 0, TinyModel.VOCABULARY).toArray();
            float[][] otherAlone = feed(plan, other, 70, 8, 9);
            feed(plan, Arrays.copyOf(tokens, 89), 89, 2, 3);
            StepInput input = new StepInput();
            input.addSequence(new int[] {2, 3});
            input.addToken(tokens[89], 89, true);
            input.addSequence(new int[] {6, 7});
            for (int t = 0; t < other.length; t++) {
                input.addToken(other[t], t, t % 2 == 1);
            }
            StepResult result = plan.run(input);
            assertEquals(36, result.rows());
            float[] row = new float[TinyModel.VOCABULARY];
            result.logits(0, row);
            assertArrayEquals(alone[89], row);
            result.logits(35, row);
            assertArrayEquals(otherAlone[69], row);
        }
    }

    @Test
    void aStepWithoutWantedLogitsStillFillsTheCache() {
        TinyModel model = TinyModel.create(4, TestWeights.F32, false);
        int[] tokens = tokens(10);
        try (Plan plan = compile(model, KvType.F32, true)) {
            float[][] expected = feed(plan, tokens, 10, 0);
            StepInput input = new StepInput();
            input.addSequence(new int[] {1});
            for (int t = 0; t < 9; t++) {
                input.addToken(tokens[t], t, false);
            }
            assertEquals(0, plan.run(input).rows());
            input.clear();
            input.addSequence(new int[] {1});
            input.addToken(tokens[9], 9, true);
            float[] row = new float[TinyModel.VOCABULARY];
            plan.run(input).logits(0, row);
            assertArrayEquals(expected[9], row);
        }
    }

    @Test
    void inputOutOfRangeIsRefusedBeforeAnythingRuns() {
        TinyModel model = TinyModel.create(4, TestWeights.F32, false);
        try (Plan plan = compile(model, KvType.F32, true)) {
            refused(plan, "vocabulary", TinyModel.VOCABULARY, 0, 0);
            refused(plan, "vocabulary", -1, 0, 0);
            refused(plan, "position -1", 1, -1, 0);
            refused(plan, "page table has 1", 1, 64, 0);
            refused(plan, "names page 10", 1, 0, 10);
            refused(plan, "names page -1", 1, 0, -1);
            StepInput many = new StepInput();
            many.addSequence(new int[] {0, 1, 2});
            for (int t = 0; t < 161; t++) {
                many.addToken(1, t, false);
            }
            assertThrows(IllegalArgumentException.class, () -> plan.run(many));
            StepInput sequences = new StepInput();
            for (int s = 0; s < 5; s++) {
                sequences.addSequence(new int[] {s});
                sequences.addToken(1, 0, false);
            }
            assertThrows(IllegalArgumentException.class, () -> plan.run(sequences));
            StepInput noSequence = new StepInput();
            noSequence.addToken(1, 0, true);
            assertThrows(IllegalArgumentException.class, () -> plan.run(noSequence));
            StepInput backwards = new StepInput();
            backwards.addSequence(new int[] {0});
            backwards.addToken(1, 3, true);
            backwards.addToken(1, 3, true);
            assertThrows(IllegalArgumentException.class, () -> plan.run(backwards));
            assertEquals(0, plan.run(new StepInput()).rows());
        }
    }

    private static void refused(Plan plan, String text, int token, int position, int page) {
        StepInput input = new StepInput();
        input.addSequence(new int[] {page});
        input.addToken(token, position, true);
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> plan.run(input));
        assertTrue(e.getMessage().contains(text), e.getMessage());
    }
}
