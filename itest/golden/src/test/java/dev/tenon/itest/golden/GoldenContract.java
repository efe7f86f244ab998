package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What whole models are held to on every backend, against the float64 forward pass. A subclass says where they
/// run and how near two ways to the same logits must come.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class GoldenContract {
    private static final double FLOAT_LIMIT = 1e-4;

    private static final Pattern NO_KERNEL = Pattern.compile(
            ".* does not support ([\\w. ]+ is (not supported by NVIDIA kernels yet"
                    + "|a bundle's own: it needs a kernel, and none is offered here, or a CPU)(, )?)+\\. .*",
            Pattern.DOTALL);

    private final String where;
    private final double sameLimit;
    Engine engine;

    /// @param where the backend, for what is printed
    /// @param sameLimit NMSE between logits that were computed in two ways which do not change them
    GoldenContract(String where, double sameLimit) {
        this.where = where;
        this.sameLimit = sameLimit;
    }

    /// {@return the request, placed on the backend}
    abstract LoadRequest on(LoadRequest request);

    @BeforeAll
    void start() {
        engine = StandaloneEngine.create(Map.of());
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    LoadRequest request(String model) {
        return on(LoadRequest.of(GoldenData.file("models/" + model + ".gguf")));
    }

    static JsonNode golden(String model) {
        return GoldenData.json(GoldenData.file("models/" + model + ".json"));
    }

    /// {@return the tokens of a sequence of a model's golden data}
    static int[] sequence(String model, String name) {
        for (JsonNode sequence : golden(model).get("sequences")) {
            if (sequence.get("name").asText().equals(name)) {
                return GoldenData.ints(sequence.get("ids"));
            }
        }
        throw new IllegalArgumentException("no sequence " + name);
    }

    /// {@return the logits behind the tokens, in a session of their own}
    static float[] last(LoadedModel model, int[] ids) {
        float[][] result = new float[1][];
        try (Session session = model.newSession()) {
            session.evaluate(ids, Rows.LAST, (i, logits) -> result[0] = logits.clone());
        }
        return result[0];
    }

    /// {@return the most probable tokens behind the tokens, whatever ends a text}
    static int[] greedy(LoadedModel model, int[] ids, int count) {
        List<Integer> got = new ArrayList<>();
        try (Session session = model.newSession()) {
            GenerationRequest request = GenerationRequest.builder()
                    .prompt(ids)
                    .sampling(SamplingParams.greedy())
                    .maxNewTokens(count)
                    .ignoreEndOfGeneration(true)
                    .build();
            Usage usage = session.generate(request, GenerationListener.ofTokens(token -> got.add(token.id())));
            assertEquals(FinishReason.LENGTH, usage.finish());
        }
        return got.stream().mapToInt(i -> i).toArray();
    }

    void assertSame(float[] got, float[] expected, String what) {
        double error = GoldenData.nmse(got, expected, 0);
        assertTrue(error < sameLimit, what + ": NMSE " + error);
    }

    /// Ends the test as skipped where the reason is an op that has no kernel, which the reason names.
    ///
    /// @param e why a model cannot be loaded
    /// @return the same, where it has another reason
    static BackendException skippedWithoutKernel(BackendException e) {
        assumeTrue(!NO_KERNEL.matcher(e.getMessage()).matches(), e.getMessage());
        return e;
    }

    /// {@return the project's own models}
    static List<GoldenModel> models() {
        return GoldenModel.ofLanguage()
                .filter(golden -> GoldenData.class.getResource("/golden/models/" + golden.name() + ".json") != null)
                .toList();
    }

    @ParameterizedTest
    @MethodSource("models")
    void logitsOfEverySequenceAreCloseToTheFloat64Truth(GoldenModel golden) {
        boolean floats = golden.name().endsWith("f16");
        try (LoadedModel model = engine.load(request(golden.name()))) {
            golden.check(
                    where + ": ",
                    !floats,
                    ids -> last(model, ids),
                    sequence -> floats ? FLOAT_LIMIT : golden.limitOf8Bits(sequence));
        } catch (BackendException e) {
            throw skippedWithoutKernel(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa.f16", "llama-tied-ropefreqs.bf16", "qwen3.f16"})
    void greedyContinuationsAreEqualOverTheirStablePrefix(String name) {
        JsonNode golden = golden(name);
        int compared = 0;
        try (LoadedModel model = engine.load(request(name).toBuilder()
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .build())) {
            for (JsonNode sequence : golden.get("sequences")) {
                int stable = sequence.get("stable_f32").asInt();
                int[] expected = Arrays.copyOf(GoldenData.ints(sequence.get("greedy")), stable);
                assertArrayEquals(
                        expected,
                        greedy(model, GoldenData.ints(sequence.get("ids")), stable),
                        name + " " + sequence.get("name"));
                compared += stable;
            }
        }
        assertTrue(compared > 100, "compared " + compared + " tokens");
    }

    @Test
    void sessionsThatRunTogetherGetTheSameLogitsAsAlone() throws Exception {
        JsonNode golden = golden("qwen3.q8_0");
        List<int[]> prompts = new ArrayList<>();
        golden.get("sequences").forEach(s -> prompts.add(GoldenData.ints(s.get("ids"))));
        try (LoadedModel model = engine.load(request("qwen3.q8_0").toBuilder()
                .maxSequences(prompts.size())
                .maxBatchTokens(64)
                .build())) {
            List<float[]> alone = prompts.stream().map(p -> last(model, p)).toList();
            try (ExecutorService threads = Executors.newFixedThreadPool(prompts.size())) {
                List<Future<float[]>> together = new ArrayList<>();
                prompts.forEach(prompt -> together.add(threads.submit(() -> last(model, prompt))));
                for (int i = 0; i < prompts.size(); i++) {
                    assertSame(together.get(i).get(), alone.get(i), "sequence " + i);
                }
            }
        }
    }

    @Test
    void aSessionGrowsShrinksAndRestsWithoutChangingItsLogits() {
        int[] ids = sequence("llama-gqa.q6_k", "len33");
        try (LoadedModel model = engine.load(
                        request("llama-gqa.q6_k").toBuilder().maxSequences(2).build());
                Session resting = model.newSession()) {
            float[] expected = last(model, ids);
            resting.evaluate(Arrays.copyOf(ids, 20), Rows.NONE, (i, logits) -> {});
            resting.evaluate(new int[] {1, 2, 3}, Rows.NONE, (i, logits) -> {});
            resting.truncate(20);
            last(model, sequence("llama-gqa.q6_k", "len200"));
            float[][] got = new float[1][];
            resting.evaluate(
                    Arrays.copyOfRange(ids, 20, ids.length), Rows.LAST, (i, logits) -> got[0] = logits.clone());
            assertSame(got[0], expected, "after another's tokens and its own taken back");
        }
    }
}
