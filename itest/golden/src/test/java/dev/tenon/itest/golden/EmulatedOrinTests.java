package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.platform.core.control.ScheduledModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Whole models on the emulated Orin, through ring, command words and launch descriptors. Oracle:
/// the float64 forward pass for numbers; that a board does the same is belief.
///
/// Long: an emulated instruction takes a thousand times as long as a real one.
@Tag("long")
class EmulatedOrinTests extends GoldenContract {
    EmulatedOrinTests() {
        super("emulated Orin", 1e-5);
    }

    @Override
    LoadRequest on(LoadRequest request) {
        return request.toBuilder().backend("nv-tegra").device("emulated").build();
    }

    @ParameterizedTest
    @CsvSource({"llama-gqa.q6_k,F16", "qwen3.q4_k_m,Q8_0", "qwen3.f16,F32"})
    void logitsAreNearlyEqualForEveryChunkSize(String name, KvType cache) {
        int[] ids = sequence(name, "len200");
        float[] whole;
        try (LoadedModel model = engine.load(
                request(name).toBuilder().keyType(cache).valueType(cache).build())) {
            whole = last(model, ids);
        }
        for (int chunk : new int[] {1, 7, 64, 199}) {
            try (LoadedModel model = engine.load(request(name).toBuilder()
                    .keyType(cache)
                    .valueType(cache)
                    .maxBatchTokens(chunk)
                    .build())) {
                double error = GoldenData.nmse(last(model, ids), whole, 0);
                // Activations of many rows are float16, those of few float32; a cache of 8 bits turns such a
                // difference into a whole step where it lies between two.
                assertTrue(
                        error < (cache == KvType.Q8_0 ? 1e-4 : 1e-5),
                        name + " in chunks of " + chunk + ": NMSE " + error);
            }
        }
    }

    /// Steps of the kernels for many rows and for few.
    @ParameterizedTest
    @ValueSource(ints = {48, 7})
    void layersWithAWindowKeepTheirWindowAlone(int chunk) {
        int[] ids = IntStream.range(0, 200).map(i -> 3 + 7 * i % 250).toArray();
        LoadRequest file = on(LoadRequest.of(GoldenData.larger("golden/models/gemma3.q4_0.gguf")));
        List<float[]> logits = new ArrayList<>();
        for (String windows : List.of("off", "on")) {
            try (LoadedModel model = engine.load(file.toBuilder()
                    .contextLength(512)
                    .maxSequences(1)
                    .maxBatchTokens(chunk)
                    .settings(Map.of("cache.windows", windows, "prefix.states.mb", "0"))
                    .build())) {
                assertEquals(
                        windows.equals("on"),
                        ((ScheduledModel) model).scheduling().windowPages() > 0);
                logits.add(last(model, ids));
            }
        }
        assertArrayEquals(logits.get(0), logits.get(1));
    }

    @Test
    void withoutFusionAndWithoutTensorCoresTheLogitsAreTheSame() {
        int[] ids = sequence("qwen3.q8_0", "len33");
        float[] expected;
        try (LoadedModel fused = engine.load(request("qwen3.q8_0"))) {
            expected = last(fused, ids);
        }
        try (LoadedModel plain = engine.load(
                        request("qwen3.q8_0").toBuilder().fuse(false).build());
                LoadedModel few = engine.load(request("qwen3.q8_0").toBuilder()
                        .settings(Map.of("cuda.tensor-cores", "off"))
                        .build())) {
            assertSame(last(plain, ids), expected, "without fusion");
            assertSame(last(few, ids), expected, "without tensor cores");
        }
    }

    /// The reference rounds activations to 8 bits in K formats, which decides near ties its own way.
    @ParameterizedTest
    @CsvSource({"qwen3,q4_k_m,0.1", "qwen3,q8_0,0.02", "llama,q6_k,0.1", "llama,f16,0.02"})
    void theTrainedModelsFollowTheReferencesText(String architecture, String format, double nearTie) {
        JsonNode prompt = GoldenData.story(architecture, format).get("prompts").get(0);
        Optional<Path> file = GoldenData.storyModel(architecture, format);
        assumeTrue(file.isPresent(), architecture + " " + format + " is not part of the project and not beside it");
        int[] ids = GoldenData.ints(prompt.get("ids"));
        int[] greedy = Arrays.copyOf(GoldenData.ints(prompt.get("greedy_ids")), 16);
        int[] rest = new int[greedy.length];
        rest[0] = ids[ids.length - 1];
        System.arraycopy(greedy, 0, rest, 1, greedy.length - 1);
        double[] largest = new double[1];
        int[] compared = new int[1];
        try (LoadedModel model = engine.load(on(LoadRequest.of(file.get())).toBuilder()
                        .contextLength(128)
                        .build());
                Session session = model.newSession()) {
            session.evaluate(Arrays.copyOf(ids, ids.length - 1), Rows.NONE, (i, logits) -> {});
            session.evaluate(rest, Rows.ALL, (i, logits) -> {
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
        LoadRequest request = LoadRequest.builder(GoldenData.embeddedModel())
                .contextLength(128)
                .build();
        int[] told;
        int[] ids;
        try (LoadedModel model =
                engine.load(request.toBuilder().backend("cpu-vector").build())) {
            ids = model.tokenizer().encode("Once upon a time", true, true);
            told = greedy(model, ids, 8);
        }
        try (LoadedModel model = engine.load(on(request))) {
            assertArrayEquals(told, greedy(model, ids, 8));
            assertEquals("nv-tegra", model.device().kind());
        }
    }
}
