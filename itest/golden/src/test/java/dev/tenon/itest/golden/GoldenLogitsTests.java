package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Whole models on the processor.
class GoldenLogitsTests extends GoldenContract {
    GoldenLogitsTests() {
        super("processor", 1e-10);
    }

    @Override
    LoadRequest on(LoadRequest request) {
        return request;
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa.q6_k", "qwen3.q4_k_m", "llama-tied-ropefreqs.bf16"})
    void logitsOfEveryPositionAreCloseToTheFloat64Truth(String name) {
        float[] truth = GoldenData.floats(GoldenData.file("models/" + name + ".logits_all7.f32"));
        int[] ids = sequence(name, "len7");
        try (LoadedModel model = engine.load(request(name));
                Session session = model.newSession()) {
            List<Double> errors = new ArrayList<>();
            session.evaluate(
                    ids, Rows.ALL, (i, logits) -> errors.add(GoldenData.nmse(logits, truth, i * logits.length)));
            assertEquals(7, errors.size());
            // Machine code rounds activations to 8 bits; single positions may be worse than the average.
            boolean rounded = model.report().kernels().stream()
                    .anyMatch(step -> step.kernel().contains("avx"));
            double limit = rounded && !name.endsWith("f16") ? 5e-3 : 1e-4;
            errors.forEach(e -> assertTrue(e <= limit, name + ": NMSE " + errors));
        }
    }

    /// Files of embedding models and rerankers, whose heads are left out.
    @ParameterizedTest
    @ValueSource(strings = {"qwen3-embedding.q8_0", "qwen3-rerank.q8_0"})
    void filesWithMoreThanALanguageModelLoad(String name) {
        try (LoadedModel model =
                engine.load(on(LoadRequest.of(GoldenData.larger("golden/models-more/" + name + ".gguf"))))) {
            for (float logit : last(model, new int[] {1, 2, 3})) {
                assertTrue(Float.isFinite(logit), name);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa.q6_k", "qwen3.q4_k_m", "qwen3.f16"})
    void logitsAreEqualForEveryChunkSize(String name) {
        int[] ids = sequence(name, "len200");
        float[] whole;
        try (LoadedModel model = engine.load(request(name))) {
            whole = last(model, ids);
        }
        for (int chunk : new int[] {1, 3, 7, 64, 199}) {
            try (LoadedModel model =
                    engine.load(request(name).toBuilder().maxBatchTokens(chunk).build())) {
                assertSame(last(model, ids), whole, name + " in chunks of " + chunk);
            }
        }
    }

    @Test
    void fusionDoesNotChangeTheLogits() {
        int[] ids = sequence("qwen3.q8_0", "len33");
        try (LoadedModel fused = engine.load(request("qwen3.q8_0"));
                LoadedModel plain = engine.load(
                        request("qwen3.q8_0").toBuilder().fuse(false).build())) {
            assertTrue(
                    plain.report().kernels().size() > fused.report().kernels().size());
            float[] expected = last(plain, ids);
            assertSame(last(fused, ids), expected, "fused");
        }
    }
}
