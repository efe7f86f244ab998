package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.LogitRows;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.Tenon;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Whole models on the emulated Orin, through ring, command words and launch descriptors. Oracle:
/// the float64 forward pass for numbers; that a board does the same is belief.
class EmulatedOrinTests {
    private static final double FLOAT_LIMIT = 1e-4;
    private static final double QUANT_LIMIT = 1e-3;
    private static Engine engine;

    @BeforeAll
    static void start() {
        engine = Tenon.standalone(Map.of());
    }

    @AfterAll
    static void stop() {
        engine.close();
    }

    private static LoadRequest on(LoadRequest request) {
        return request.withBackend("nv-tegra").withDevice("emulated");
    }

    private static LoadRequest request(String model) {
        return on(LoadRequest.of(GoldenData.own("models/" + model + ".gguf")));
    }

    private static float[] last(LoadedModel model, int[] ids) {
        float[][] result = new float[1][];
        try (Session session = model.newSession()) {
            session.evaluate(ids, LogitRows.LAST, (i, logits) -> result[0] = logits.clone());
        }
        return result[0];
    }

    private static int[] sequence(String model, String name) {
        for (JsonNode sequence :
                GoldenData.json(GoldenData.own("models/" + model + ".json")).get("sequences")) {
            if (sequence.get("name").asText().equals(name)) {
                return GoldenData.ints(sequence.get("ids"));
            }
        }
        throw new IllegalArgumentException("no sequence " + name);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "llama-gqa.f16",
                "llama-gqa.q8_0",
                "llama-gqa.q6_k",
                "llama-gqa.q4_k_m",
                "llama-tied-ropefreqs.bf16",
                "mistral-like.q4_0",
                "qwen3.f16",
                "qwen3.q8_0",
                "qwen3.q6_k",
                "qwen3.q4_k_m"
            })
    void logitsOfEverySequenceAreCloseToTheFloat64Truth(String name) {
        JsonNode golden = GoldenData.json(GoldenData.own("models/" + name + ".json"));
        float[] truth = GoldenData.floats(GoldenData.own("models/" + name + ".logits_f64.f32"));
        boolean floats = name.endsWith("f16");
        try (LoadedModel model = engine.load(request(name))) {
            for (JsonNode sequence : golden.get("sequences")) {
                float[] logits = last(model, GoldenData.ints(sequence.get("ids")));
                double error =
                        GoldenData.nmse(logits, truth, sequence.get("row").asInt() * logits.length);
                double limit = floats
                        ? FLOAT_LIMIT
                        : Math.max(
                                QUANT_LIMIT,
                                1.5 * sequence.get("nmse_native_vs_f64").asDouble());
                System.out.printf(
                        "emulated Orin: %s %s NMSE %.3g (limit %.3g)%n",
                        name, sequence.get("name").asText(), error, limit);
                assertTrue(error <= limit, name + " " + sequence.get("name") + ": NMSE " + error + " > " + limit);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"llama-gqa.q6_k,F16", "qwen3.q4_k_m,Q8_0", "qwen3.f16,F32"})
    void logitsAreNearlyEqualForEveryChunkSize(String name, KvType cache) {
        int[] ids = sequence(name, "len200");
        float[] whole;
        try (LoadedModel model = engine.load(request(name).withKvTypes(cache, cache))) {
            whole = last(model, ids);
        }
        for (int chunk : new int[] {1, 7, 64, 199}) {
            try (LoadedModel model =
                    engine.load(request(name).withKvTypes(cache, cache).withBatchTokens(chunk))) {
                double error = GoldenData.nmse(last(model, ids), whole, 0);
                // Activations of many rows are float16, those of few float32; a cache of 8 bits turns such a
                // difference into a whole step where it lies between two.
                assertTrue(
                        error < (cache == KvType.Q8_0 ? 1e-4 : 1e-5),
                        name + " in chunks of " + chunk + ": NMSE " + error);
            }
        }
    }

    @Test
    void withoutFusionAndWithoutTensorCoresTheLogitsAreTheSame() {
        int[] ids = sequence("qwen3.q8_0", "len33");
        float[] expected;
        try (LoadedModel fused = engine.load(request("qwen3.q8_0"))) {
            expected = last(fused, ids);
        }
        try (LoadedModel plain = engine.load(request("qwen3.q8_0").withFusion(false));
                LoadedModel few = engine.load(request("qwen3.q8_0").withSettings(Map.of("cuda.tensor-cores", "off")))) {
            assertTrue(GoldenData.nmse(last(plain, ids), expected, 0) < 1e-5);
            assertTrue(GoldenData.nmse(last(few, ids), expected, 0) < 1e-5);
        }
    }

    @Test
    void sessionsThatRunTogetherGetTheSameLogitsAsAlone() throws Exception {
        JsonNode golden = GoldenData.json(GoldenData.own("models/llama-gqa.q8_0.json"));
        List<int[]> prompts = new ArrayList<>();
        golden.get("sequences").forEach(s -> prompts.add(GoldenData.ints(s.get("ids"))));
        try (LoadedModel model = engine.load(
                request("llama-gqa.q8_0").withMaxSequences(prompts.size()).withBatchTokens(64))) {
            List<float[]> alone = prompts.stream().map(p -> last(model, p)).toList();
            float[][] together = new float[prompts.size()][];
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < prompts.size(); i++) {
                int index = i;
                threads.add(Thread.ofPlatform().start(() -> together[index] = last(model, prompts.get(index))));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            for (int i = 0; i < prompts.size(); i++) {
                assertTrue(GoldenData.nmse(together[i], alone.get(i), 0) < 1e-5, "sequence " + i);
            }
        }
    }

    @Test
    void aSessionThatRestsWhileAnotherRunsGoesOnAsBefore() {
        int[] ids = sequence("qwen3.q6_k", "len33");
        try (LoadedModel model = engine.load(request("qwen3.q6_k").withMaxSequences(2));
                Session resting = model.newSession()) {
            float[] expected = last(model, ids);
            resting.evaluate(Arrays.copyOf(ids, 20), LogitRows.NONE, (i, logits) -> {});
            resting.evaluate(new int[] {1, 2, 3}, LogitRows.NONE, (i, logits) -> {});
            resting.truncate(20);
            last(model, sequence("qwen3.q6_k", "len200"));
            float[][] got = new float[1][];
            resting.evaluate(
                    Arrays.copyOfRange(ids, 20, ids.length), LogitRows.LAST, (i, logits) -> got[0] = logits.clone());
            assertTrue(GoldenData.nmse(got[0], expected, 0) < 1e-5);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa.f16", "llama-tied-ropefreqs.bf16", "qwen3.f16"})
    void greedyContinuationsAreEqualOverTheirStablePrefix(String name) {
        JsonNode golden = GoldenData.json(GoldenData.own("models/" + name + ".json"));
        int compared = 0;
        try (LoadedModel model = engine.load(request(name).withKvTypes(KvType.F32, KvType.F32))) {
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

    /// The reference rounds activations to 8 bits in K formats, which decides near ties its own way.
    @ParameterizedTest
    @CsvSource({"qwen3,q4_k_m,0.1", "qwen3,q8_0,0.02", "llama,q6_k,0.1", "llama,f16,0.02"})
    void theTrainedModelsFollowTheReferencesText(String architecture, String format, double nearTie) {
        Optional<Path> golden = GoldenData.shared("models/golden-" + architecture + ".json");
        Optional<Path> file = GoldenData.shared("models/story-" + architecture + "-" + format + ".gguf");
        assumeTrue(golden.isPresent() && file.isPresent(), architecture + " " + format + " is not beside the project");
        JsonNode prompt = GoldenData.json(golden.get())
                .get("formats")
                .get(format)
                .get("prompts")
                .get(0);
        int[] ids = GoldenData.ints(prompt.get("ids"));
        int[] greedy = Arrays.copyOf(GoldenData.ints(prompt.get("greedy_ids")), 16);
        int[] rest = new int[greedy.length];
        rest[0] = ids[ids.length - 1];
        System.arraycopy(greedy, 0, rest, 1, greedy.length - 1);
        double[] largest = new double[1];
        int[] compared = new int[1];
        try (LoadedModel model = engine.load(on(LoadRequest.of(file.get())).withContextLength(128));
                Session session = model.newSession()) {
            session.evaluate(Arrays.copyOf(ids, ids.length - 1), LogitRows.NONE, (i, logits) -> {});
            session.evaluate(rest, LogitRows.ALL, (i, logits) -> {
                int best = GoldenData.argMax(logits);
                largest[0] = Math.max(largest[0], logits[best] - logits[greedy[i]]);
                compared[0]++;
            });
        }
        System.out.printf(
                "emulated Orin: story %s %s: another token was better by at most %.4f in %d steps%n",
                architecture, format, largest[0], compared[0]);
        assertEquals(greedy.length, compared[0]);
        assertTrue(largest[0] < nearTie, "another token was better by " + largest[0]);
    }

    @Test
    void theEmbeddedModelTellsTheSameStoryAsOnTheProcessor() {
        LoadRequest request = LoadRequest.of(GoldenData.embeddedModel()).withContextLength(128);
        int[] told;
        int[] ids;
        try (LoadedModel model = engine.load(request.withBackend("cpu-vector"))) {
            ids = model.tokenizer().encode("Once upon a time", true, true);
            told = greedy(model, ids, 8);
        }
        try (LoadedModel model = engine.load(on(request))) {
            assertArrayEquals(told, greedy(model, ids, 8));
            assertEquals("nv-tegra", model.device().kind());
        }
    }

    private static int[] greedy(LoadedModel model, int[] ids, int count) {
        List<Integer> got = new ArrayList<>();
        try (Session session = model.newSession()) {
            session.generate(
                    new GenerationRequest(ids, SamplingParams.greedy(), count, List.of(), true), (token, text) -> {
                        if (token >= 0) {
                            got.add(token);
                        }
                    });
        }
        return got.stream().mapToInt(i -> i).toArray();
    }
}
