package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.platform.core.StandaloneEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// Logits of a sequence have the same bits alone, cut into pieces of any size, and beside others that are cut in other
/// ways: sequences run in parallel in pieces of 1 to 64 tokens, by one thread and by two, with keys and values of F16
/// and Q8_0. `-Dtenon.invariance.models=all` takes all golden models, `-Dtenon.kernels.x86=off` the Vector API's
/// kernels.
class BatchInvarianceTests {
    private static final List<String> MODELS = List.of(System.getProperty(
                    "tenon.invariance.models",
                    "llama-gqa.q4_k_m,qwen3.q4_k_m,qwen3moe.q8_0,lfm2.q4_0,qwen35.q4_k_m,gemma3.q4_0")
            .split(","));
    private static final int SEQUENCES = 4;
    private static final int LENGTH = 140;
    private static final int ROUNDS = 2;
    private static final int[] SIZES = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64};

    @TestFactory
    Stream<DynamicTest> bitsDoNotDependOnTheBatch() {
        return GoldenModel.each(
                GoldenModel.ofLanguage().filter(golden -> MODELS.contains(golden.name()) || MODELS.contains("all")),
                golden -> {
                    List<String> differences = new ArrayList<>();
                    for (int threads = 1; threads <= 2; threads++) {
                        for (KvType type : List.of(KvType.F16, KvType.Q8_0)) {
                            check(
                                    golden.request()
                                            .threads(threads)
                                            .keyType(type)
                                            .valueType(type)
                                            .build(),
                                    differences);
                        }
                    }
                    assertEquals(List.of(), differences);
                });
    }

    private static void check(LoadRequest file, List<String> differences) {
        String where = file.threads() + " threads, " + file.keyType().orElseThrow() + ": ";
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel model = engine.load(file.toBuilder()
                        .contextLength(LENGTH)
                        .maxSequences(SEQUENCES)
                        .build())) {
            int[][] tokens = new int[SEQUENCES][];
            float[][][] alone = new float[SEQUENCES][][];
            for (int s = 0; s < SEQUENCES; s++) {
                tokens[s] = new Random(s)
                        .ints(LENGTH - 7 * s, 0, model.config().vocabularySize())
                        .toArray();
                alone[s] = run(model, tokens[s], LENGTH, LENGTH, new Random(0));
            }
            TreeSet<String> found = new TreeSet<>();
            for (int size : SIZES) {
                compare(
                        "alone in pieces of " + size,
                        alone[0],
                        run(model, tokens[0], size, size, new Random(0)),
                        found);
            }
            for (int round = 0; round < ROUNDS; round++) {
                try (ExecutorService all = Executors.newFixedThreadPool(SEQUENCES)) {
                    List<Future<float[][]>> rows = new ArrayList<>();
                    for (int s = 0; s < SEQUENCES; s++) {
                        int[] own = tokens[s];
                        Random random = new Random(31 * round + s);
                        int most = 1 + random.nextInt(64);
                        rows.add(all.submit(() -> run(model, own, 1, most, random)));
                    }
                    for (int s = 0; s < SEQUENCES; s++) {
                        compare("beside others", alone[s], rows.get(s).get(), found);
                    }
                }
            }
            found.forEach(each -> differences.add(where + each));
        } catch (UnsupportedModelException e) {
            // Heads that blocks of 32 do not fit.
            assertEquals(KvType.Q8_0, file.keyType().orElseThrow(), e::toString);
        } catch (Exception e) {
            throw new AssertionError(where, e);
        }
    }

    private static float[][] run(LoadedModel model, int[] tokens, int least, int most, Random random) {
        float[][] rows = new float[tokens.length][];
        try (Session session = model.newSession()) {
            for (int from = 0; from < tokens.length; ) {
                int first = from;
                from = Math.min(tokens.length, from + least + random.nextInt(most - least + 1));
                session.evaluate(
                        Arrays.copyOfRange(tokens, first, from),
                        Rows.ALL,
                        (index, logits) -> rows[first + index] = logits.clone());
            }
        }
        return rows;
    }

    private static void compare(String how, float[][] expected, float[][] found, TreeSet<String> differences) {
        for (int i = 0; i < expected.length; i++) {
            if (Arrays.mismatch(expected[i], found[i]) >= 0) {
                double most = 0;
                for (int k = 0; k < expected[i].length; k++) {
                    most = Math.max(most, Math.abs(expected[i][k] - found[i][k]));
                }
                differences.add(how + ", position " + i + " by " + most);
                return;
            }
        }
    }
}
