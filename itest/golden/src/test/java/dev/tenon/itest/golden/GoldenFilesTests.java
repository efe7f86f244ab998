package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.StandaloneEngine.InstalledBundle;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/// Every language model of the larger golden set whose architecture a bundle serves, through the engine: logits,
/// and that chunks, neighbours and truncation do not change them.
///
/// With float32 activations the bound is that of float32; with machine code, which rounds activations to 8 bits,
/// it follows what another implementation with such activations is off by.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GoldenFilesTests {
    private static final double FLOAT_LIMIT = 1e-8;
    private static final double SAME_LIMIT = 1e-10;

    private Engine engine;

    @BeforeAll
    void start() {
        engine = StandaloneEngine.create(Map.of());
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private static Stream<DynamicTest> each(Consumer<GoldenModel> test) {
        return GoldenModel.each(GoldenModel.ofLanguage(), test);
    }

    @TestFactory
    Stream<DynamicTest> logitsOfEverySequenceAreCloseToTheFloat64Truth() {
        return each(golden -> {
            try (LoadedModel model = engine.load(golden.request().build())) {
                boolean rounds = rounds(model);
                golden.check(
                        "",
                        rounds,
                        ids -> GoldenContract.last(model, ids),
                        sequence -> rounds ? golden.limitOf8Bits(sequence) : FLOAT_LIMIT);
            }
        });
    }

    /// {@return whether kernels round activations, to 8 bits or to F16}
    private static boolean rounds(LoadedModel model) {
        return model.report().kernels().stream().anyMatch(step -> step.kernel().contains("avx"));
    }

    @TestFactory
    Stream<DynamicTest> greedyContinuationsAreThoseOfTheTruthWithFloatActivations() {
        return each(golden -> {
            try (LoadedModel model = engine.load(golden.request().build())) {
                assumeTrue(!rounds(model), "the kernels round activations");
                assumeTrue(golden.sequences().iterator().next().has("greedy"), golden.name() + " has no greedy truth");
                for (JsonNode sequence : golden.sequences()) {
                    int stable = sequence.get("stable_f32").asInt();
                    assertArrayEquals(
                            Arrays.copyOf(GoldenData.ints(sequence.get("greedy")), stable),
                            GoldenContract.greedy(model, GoldenData.ints(sequence.get("ids")), stable),
                            golden.name() + " " + sequence.get("name"));
                }
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> piecesOfAPromptGiveTheLogitsOfTheWhole() {
        return each(golden -> {
            int[] ids = golden.ids("len200");
            try (LoadedModel model = engine.load(golden.request().build());
                    Session session = model.newSession()) {
                float[] whole = GoldenContract.last(model, ids);
                float[][] got = new float[1][];
                int at = 0;
                for (int piece : new int[] {1, 63, 64, 72}) {
                    int[] next = Arrays.copyOfRange(ids, at, at + piece);
                    session.evaluate(next, Rows.LAST, (i, logits) -> got[0] = logits.clone());
                    at += piece;
                }
                same(got[0], whole, golden.name() + " in pieces");
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> neighboursDoNotChangeTheLogits() {
        return each(golden -> {
            List<int[]> prompts = golden.sequences().stream()
                    .map(s -> GoldenData.ints(s.get("ids")))
                    .toList();
            try (LoadedModel model = engine.load(golden.request()
                            .maxSequences(prompts.size())
                            .maxBatchTokens(64)
                            .build());
                    ExecutorService threads = Executors.newFixedThreadPool(prompts.size())) {
                Function<int[], float[]> run = prompt -> GoldenContract.last(model, prompt);
                List<float[]> alone = prompts.stream().map(run).toList();
                List<Future<float[]>> together = prompts.stream()
                        .map(prompt -> threads.submit(() -> run.apply(prompt)))
                        .toList();
                for (int i = 0; i < prompts.size(); i++) {
                    same(together.get(i).get(), alone.get(i), golden.name() + " sequence " + i);
                }
            } catch (Exception e) {
                throw new AssertionError(golden.name(), e);
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> tokensThatWereTakenBackLeaveNoTrace() {
        return each(golden -> {
            int[] ids = golden.ids("len33");
            try (LoadedModel model = engine.load(golden.request().build());
                    Session session = model.newSession()) {
                float[] expected = GoldenContract.last(model, ids);
                session.evaluate(Arrays.copyOf(ids, 20), Rows.NONE, (i, logits) -> {});
                session.evaluate(new int[] {1, 2, 3}, Rows.NONE, (i, logits) -> {});
                float[][] got = new float[1][];
                // To where a step ended, into a step, to before the one before, and past other tokens there.
                for (int length : new int[] {20, 25, 10, 25}) {
                    session.truncate(length);
                    if (length == 10) {
                        session.evaluate(new int[] {4, 5, 6}, Rows.NONE, (i, logits) -> {});
                        session.evaluate(new int[] {7, 8, 9}, Rows.NONE, (i, logits) -> {});
                        session.truncate(length);
                    }
                    session.evaluate(
                            Arrays.copyOfRange(ids, length, ids.length),
                            Rows.LAST,
                            (i, logits) -> got[0] = logits.clone());
                    same(got[0], expected, golden.name() + " after tokens from " + length + " on were taken back");
                }
            }
        });
    }

    /// The sequence runs its tokens again where it goes on.
    @TestFactory
    Stream<DynamicTest> aMoveToAnotherPlacementLeavesNoTrace() {
        return each(golden -> {
            int[] ids = golden.ids("len33");
            try (StandaloneEngine moving = StandaloneEngine.create(Map.of(), type -> type != CpuVectorBackend.class)) {
                InstalledBundle first = moving.installProviders(new CpuVectorBackend());
                try (LoadedModel model = moving.load(golden.request().build());
                        Session session = model.newSession()) {
                    float[] expected = GoldenContract.last(model, ids);
                    session.evaluate(Arrays.copyOf(ids, 20), Rows.NONE, (i, logits) -> {});
                    first.remove();
                    moving.installProviders(new CpuVectorBackend());
                    float[][] got = new float[1][];
                    session.evaluate(
                            Arrays.copyOfRange(ids, 20, ids.length), Rows.LAST, (i, logits) -> got[0] = logits.clone());
                    same(got[0], expected, golden.name() + " after a move");
                }
            }
        });
    }

    private static void same(float[] got, float[] expected, String what) {
        double error = GoldenData.nmse(got, expected, 0);
        assertTrue(error < SAME_LIMIT, what + ": NMSE " + error);
    }
}
