package dev.tenon;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.TenonException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/// Vectors and scores, of models that are made for them and of one that is not.
class VectorsTests {
    private static final Path MODELS = Path.of("../../itest/golden/src/test/resources/golden/models-more");

    private static double length(float[] vector) {
        double sum = 0;
        for (float element : vector) {
            sum += element * element;
        }
        return Math.sqrt(sum);
    }

    @Test
    void anEncoderEmbeds() {
        try (Model model = Tenon.load(MODELS.resolve("bert.q8_0.gguf").toString())) {
            List<float[]> vectors = model.embed(List.of("a b", "c"));
            assertEquals(2, vectors.size());
            assertEquals(1, length(vectors.getFirst()), 1e-4);
            assertArrayEquals(vectors.get(1), model.embed("c"), 1e-4f);
            assertEquals(List.of(), model.embed(List.of()));
        }
    }

    @Test
    void manyThreadsTakeTurns() throws Exception {
        try (Model model = Tenon.model(MODELS.resolve("bert.q8_0.gguf").toString())
                        .requests(2)
                        .load();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<String> texts = List.of("a", "b c", "d", "e f g");
            List<float[]> alone = model.embed(texts);
            List<Future<List<float[]>>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                all.add(threads.submit(() -> model.embed(texts)));
            }
            for (Future<List<float[]>> each : all) {
                for (int i = 0; i < texts.size(); i++) {
                    assertArrayEquals(alone.get(i), each.get().get(i), 1e-4f);
                }
            }
            model.awaitIdle();
            assertEquals(0, model.runningRequests());
            assertEquals(0, model.waitingRequests());
        }
    }

    @Test
    void aModelThatGeneratesEmbedsIfAskedTo() {
        try (Model model = Tenon.model(Story.FILE.toString())
                .contextLength(256)
                .embeddings()
                .load()) {
            assertEquals(1, length(model.embed("Once upon a time")), 1e-4);
            assertEquals(
                    4, model.completion("Once").maxNewTokens(4).reply().usage().generatedTokens());
        }
        try (Model model = Story.load()) {
            assertEquals(
                    "STATE-002",
                    assertThrows(TenonException.class, () -> model.embed("Once"))
                            .code());
            assertEquals(
                    "STATE-002",
                    assertThrows(TenonException.class, () -> model.rerank("Who?", List.of("I")))
                            .code());
        }
    }

    @Test
    void aRerankerOrdersDocuments() {
        try (Model model = Tenon.load(MODELS.resolve("bert-rerank.q8_0.gguf").toString())) {
            List<String> documents = List.of("a", "b c", "d");
            List<Model.Scored> ranked = model.rerank("a b", documents);
            assertEquals(3, ranked.size());
            for (Model.Scored each : ranked) {
                assertEquals(documents.get(each.index()), each.document());
            }
            assertTrue(ranked.get(0).score() >= ranked.get(1).score());
            assertTrue(ranked.get(1).score() >= ranked.get(2).score());
            assertEquals(List.of(), model.rerank("a", List.of()));
        }
    }
}
