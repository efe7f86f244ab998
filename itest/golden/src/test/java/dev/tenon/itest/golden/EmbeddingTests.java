package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.EmbeddingRequest.Pooling;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Hidden states and embeddings of the embedded model, on the CPU.
class EmbeddingTests {
    private static Engine engine;

    @BeforeAll
    static void start() {
        engine = StandaloneEngine.create(Map.of());
    }

    @AfterAll
    static void stop() {
        engine.close();
    }

    private static LoadedModel load(int sequences, String... outputs) {
        return engine.load(LoadRequest.builder(GoldenData.embeddedModel())
                .contextLength(256)
                .maxSequences(sequences)
                .maxBatchTokens(8)
                .outputs(outputs)
                .build());
    }

    private static int[] tokens(LoadedModel model, String text) {
        return model.tokenizer().encode(text, true, false);
    }

    private static float[][] rows(LoadedModel model, int[] tokens, String output) {
        float[][] rows = new float[tokens.length][];
        try (Session session = model.newSession()) {
            session.evaluate(tokens, Rows.ALL, output, (index, row) -> rows[index] = row.clone());
        }
        return rows;
    }

    @Test
    void theHeadMakesTheLogitsOfTheHiddenStates() {
        try (LoadedModel model = load(1, Graph.LOGITS, Graph.HIDDEN)) {
            assertEquals(
                    List.of("logits", "hidden"), List.copyOf(model.outputs().keySet()));
            int[] tokens = tokens(model, "Once upon a time there was a fox who lived in the wood.");
            float[][] hidden = rows(model, tokens, Graph.HIDDEN);
            float[][] logits = rows(model, tokens, Graph.LOGITS);
            double error = 0;
            double size = 0;
            for (int id : new int[] {0, 1, 7, 100}) {
                float[] head = headRow(model, id, hidden[0].length);
                for (int t = 0; t < tokens.length; t++) {
                    double expected = 0;
                    for (int i = 0; i < head.length; i++) {
                        expected += (double) head[i] * hidden[t][i];
                    }
                    error += (expected - logits[t][id]) * (expected - logits[t][id]);
                    size += expected * expected;
                }
            }
            // Kernels round activations to 8 bits where the head is quantised.
            assertTrue(error / size < 1e-3, "NMSE " + error / size);
        }
    }

    private static float[] headRow(LoadedModel model, int row, int width) {
        TensorInfo tensor = model.file()
                .tensor("output.weight")
                .or(() -> model.file().tensor("token_embd.weight"))
                .orElseThrow();
        QuantFormat format = engine.formats().stream()
                .filter(f -> f.ggmlType() == tensor.ggmlType())
                .findFirst()
                .orElseThrow();
        float[] values = new float[width];
        format.dequantize(model.file().data(tensor), row * format.bytesFor(width), values, 0, width);
        return values;
    }

    @Test
    void textsAreEmbeddedTogetherAsEachAlone() {
        List<float[]> both;
        try (LoadedModel model = load(1, Graph.LOGITS, Graph.HIDDEN)) {
            both = model.embed(request(model, Pooling.MEAN, false));
            float[][] hidden = rows(model, tokens(model, TEXTS.get(1)), Graph.HIDDEN);
            assertArrayEquals(mean(hidden), both.get(1), 1e-4f);
            float[] last = model.embed(request(model, Pooling.LAST, false)).get(1);
            assertArrayEquals(hidden[hidden.length - 1], last, 1e-4f);
            float[] first = model.embed(request(model, Pooling.CLS, false)).get(1);
            assertArrayEquals(hidden[0], first, 1e-4f);
        }
        try (LoadedModel model = load(3, Graph.HIDDEN)) {
            assertEquals(List.of("hidden"), List.copyOf(model.outputs().keySet()));
            List<float[]> alone = model.embed(request(model, Pooling.MEAN, false));
            List<float[]> scaled = model.embed(request(model, Pooling.MEAN, true));
            for (int i = 0; i < both.size(); i++) {
                assertArrayEquals(both.get(i), alone.get(i), 1e-3f, "text " + i);
                double length = 0;
                for (float v : scaled.get(i)) {
                    length += (double) v * v;
                }
                assertEquals(1, length, 1e-4);
            }
        }
    }

    private static final List<String> TEXTS =
            List.of("A fox.", "The little girl saw a big red ball in the garden.", "Rain", "It was dark.", "One day");

    private static EmbeddingRequest request(LoadedModel model, Pooling pooling, boolean normalize) {
        EmbeddingRequest.Builder builder =
                EmbeddingRequest.builder().pooling(pooling).normalize(normalize);
        TEXTS.forEach(text -> builder.text(tokens(model, text)));
        return builder.build();
    }

    private static float[] mean(float[][] rows) {
        float[] mean = new float[rows[0].length];
        for (float[] row : rows) {
            for (int i = 0; i < mean.length; i++) {
                mean[i] += row[i] / rows.length;
            }
        }
        return mean;
    }

    @Test
    void whatTheModelWasNotLoadedForIsRefused() {
        try (LoadedModel model = load(1, Graph.HIDDEN);
                Session session = model.newSession()) {
            GenerationRequest generate = GenerationRequest.of(new int[] {1}, SamplingParams.greedy(), 1);
            assertEquals(
                    ErrorCode.ARGUMENT,
                    assertThrows(TenonException.class, () -> session.generate(generate, text -> {}))
                            .code());
        }
        try (LoadedModel model = load(1, Graph.LOGITS)) {
            EmbeddingRequest embed = EmbeddingRequest.builder().text(1).build();
            assertEquals(
                    ErrorCode.ARGUMENT,
                    assertThrows(TenonException.class, () -> model.embed(embed)).code());
        }
        var e = assertThrows(TenonException.class, () -> load(1, "other"));
        assertTrue(e.getMessage().contains("it has logits, hidden"), e.getMessage());
    }
}
