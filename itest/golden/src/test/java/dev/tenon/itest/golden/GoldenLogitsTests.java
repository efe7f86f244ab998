package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.LogitRows;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.Tenon;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Whole models against the float64 forward pass.
class GoldenLogitsTests {
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

    private static LoadRequest request(String model) {
        return LoadRequest.of(GoldenData.own("models/" + model + ".gguf"));
    }

    private static float[] last(LoadedModel model, int[] ids) {
        float[][] result = new float[1][];
        try (Session session = model.newSession()) {
            session.evaluate(ids, LogitRows.LAST, (i, logits) -> result[0] = logits.clone());
        }
        return result[0];
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
                int[] ids = GoldenData.ints(sequence.get("ids"));
                float[] logits = last(model, ids);
                double error =
                        GoldenData.nmse(logits, truth, sequence.get("row").asInt() * logits.length);
                double limit = floats
                        ? FLOAT_LIMIT
                        : Math.max(
                                QUANT_LIMIT,
                                1.5 * sequence.get("nmse_native_vs_f64").asDouble());
                System.out.printf(
                        "%s %s NMSE %.3g (limit %.3g)%n",
                        name, sequence.get("name").asText(), error, limit);
                assertTrue(error <= limit, name + " " + sequence.get("name") + ": NMSE " + error + " > " + limit);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa.q6_k", "qwen3.q4_k_m", "llama-tied-ropefreqs.bf16"})
    void logitsOfEveryPositionAreCloseToTheFloat64Truth(String name) {
        JsonNode golden = GoldenData.json(GoldenData.own("models/" + name + ".json"));
        float[] truth = GoldenData.floats(GoldenData.own("models/" + name + ".logits_all7.f32"));
        int[] ids = sequence(golden, "len7");
        try (LoadedModel model = engine.load(request(name));
                Session session = model.newSession()) {
            List<Double> errors = new ArrayList<>();
            session.evaluate(
                    ids, LogitRows.ALL, (i, logits) -> errors.add(GoldenData.nmse(logits, truth, i * logits.length)));
            assertEquals(7, errors.size());
            // Machine code rounds activations to 8 bits; single positions may be worse than the average.
            boolean rounded = model.report().steps().stream()
                    .anyMatch(step -> step.kernel().contains("avx"));
            double limit = rounded && !name.endsWith("f16") ? 5e-3 : 1e-4;
            errors.forEach(e -> assertTrue(e <= limit, name + ": NMSE " + errors));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa.f16", "llama-tied-ropefreqs.bf16", "qwen3.f16"})
    void greedyContinuationsAreEqualOverTheirStablePrefix(String name) {
        JsonNode golden = GoldenData.json(GoldenData.own("models/" + name + ".json"));
        LoadRequest request = request(name).withKvTypes(KvType.F32, KvType.F32);
        int compared = 0;
        try (LoadedModel model = engine.load(request)) {
            for (JsonNode sequence : golden.get("sequences")) {
                int stable = sequence.get("stable_f32").asInt();
                int[] expected = Arrays.copyOf(GoldenData.ints(sequence.get("greedy")), stable);
                List<Integer> got = new ArrayList<>();
                try (Session session = model.newSession()) {
                    int[] ids = GoldenData.ints(sequence.get("ids"));
                    GenerationRequest greedy =
                            new GenerationRequest(ids, SamplingParams.greedy(), stable, List.of(), true);
                    Usage usage = session.generate(greedy, (token, text) -> {
                        if (token >= 0) {
                            got.add(token);
                        }
                    });
                    assertEquals(FinishReason.LENGTH, usage.finish());
                }
                assertArrayEquals(expected, got.stream().mapToInt(i -> i).toArray(), name + " " + sequence.get("name"));
                compared += stable;
            }
        }
        assertTrue(compared > 100, "compared " + compared + " tokens");
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa.q6_k", "qwen3.q4_k_m", "qwen3.f16"})
    void logitsAreEqualForEveryChunkSize(String name) {
        int[] ids = sequence(GoldenData.json(GoldenData.own("models/" + name + ".json")), "len200");
        float[] whole;
        try (LoadedModel model = engine.load(request(name))) {
            whole = last(model, ids);
        }
        for (int chunk : new int[] {1, 3, 7, 64, 199}) {
            try (LoadedModel model = engine.load(request(name).withBatchTokens(chunk))) {
                float[] logits = last(model, ids);
                assertTrue(
                        GoldenData.nmse(logits, whole, 0) < 1e-10,
                        name + " in chunks of " + chunk + ": NMSE " + GoldenData.nmse(logits, whole, 0));
            }
        }
    }

    @Test
    void fusionDoesNotChangeTheLogits() {
        int[] ids = sequence(GoldenData.json(GoldenData.own("models/qwen3.q8_0.json")), "len33");
        try (LoadedModel fused = engine.load(request("qwen3.q8_0"));
                LoadedModel plain = engine.load(request("qwen3.q8_0").withFusion(false))) {
            assertTrue(plain.report().steps().size() > fused.report().steps().size());
            float[] expected = last(plain, ids);
            assertTrue(GoldenData.nmse(last(fused, ids), expected, 0) < 1e-10);
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
                assertTrue(GoldenData.nmse(together[i], alone.get(i), 0) < 1e-10, "sequence " + i);
            }
        }
    }

    @Test
    void aSessionGrowsAndShrinksWithoutChangingItsLogits() {
        int[] ids = sequence(GoldenData.json(GoldenData.own("models/qwen3.q6_k.json")), "len33");
        try (LoadedModel model = engine.load(request("qwen3.q6_k").withMaxSequences(2));
                Session session = model.newSession()) {
            float[] expected = last(model, ids);
            session.evaluate(Arrays.copyOf(ids, 20), LogitRows.NONE, (i, logits) -> {});
            session.evaluate(new int[] {1, 2, 3}, LogitRows.NONE, (i, logits) -> {});
            session.truncate(20);
            float[][] got = new float[1][];
            session.evaluate(
                    Arrays.copyOfRange(ids, 20, ids.length), LogitRows.LAST, (i, logits) -> got[0] = logits.clone());
            assertTrue(GoldenData.nmse(got[0], expected, 0) < 1e-10);
        }
    }

    private static int[] sequence(JsonNode golden, String name) {
        for (JsonNode sequence : golden.get("sequences")) {
            if (sequence.get("name").asText().equals(name)) {
                return GoldenData.ints(sequence.get("ids"));
            }
        }
        throw new IllegalArgumentException("no sequence " + name);
    }
}
