package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.EmbeddingRequest.Pooling;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.RerankRequest;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// Encoders and rerankers of the golden set, through the engine: vectors and scores of every sequence beside the
/// float64 truth, alone and several in a step.
///
/// With float32 activations the bound is that of float32; with machine code, which rounds activations to 8 bits,
/// it follows what another implementation with such activations is off by.
class GoldenEncodersTests {
    private static final double FLOAT_LIMIT = 1e-8;
    private static final double QUANT_LIMIT = 1e-3;
    private static final double SAME_LIMIT = 1e-10;
    static final double LEAST_COSINE = 0.9999;

    private static Engine engine;

    @BeforeAll
    static void start() {
        engine = StandaloneEngine.create(Map.of());
    }

    @AfterAll
    static void stop() {
        engine.close();
    }

    private static Path file(String name) {
        return GoldenData.file("models-more/" + name + ".gguf");
    }

    private static JsonNode json(String name) {
        return GoldenData.json(GoldenData.file("models-more/" + name + ".json"));
    }

    private static LoadedModel load(String name, int sequences, String... outputs) {
        return engine.load(LoadRequest.builder(file(name))
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .maxSequences(sequences)
                .outputs(outputs)
                .build());
    }

    private static LoadedModel load(GoldenModel golden) {
        return engine.load(
                golden.request().maxSequences(1).outputs(golden.output()).build());
    }

    private static double limit(LoadedModel model, JsonNode sequence) {
        boolean rounds =
                model.report().kernels().stream().anyMatch(k -> k.kernel().contains("avx"));
        double other = sequence.get("nmse_native_vs_f64").asDouble();
        return rounds ? Math.max(QUANT_LIMIT, 1.5 * other) : FLOAT_LIMIT;
    }

    static float[] truth(GoldenModel golden, JsonNode sequence) {
        int width = golden.json().get("n_out").asInt();
        int from = sequence.get("row").asInt() * width;
        return Arrays.copyOfRange(golden.truth(), from, from + width);
    }

    static EmbeddingRequest.Builder texts(JsonNode golden) {
        EmbeddingRequest.Builder request = EmbeddingRequest.builder();
        golden.get("sequences").forEach(s -> request.text(GoldenData.ints(s.get("ids"))));
        return request;
    }

    static double cosine(float[] a, float[] b) {
        double ab = 0;
        double aa = 0;
        double bb = 0;
        for (int i = 0; i < a.length; i++) {
            ab += (double) a[i] * b[i];
            aa += (double) a[i] * a[i];
            bb += (double) b[i] * b[i];
        }
        return ab / Math.sqrt(aa * bb);
    }

    private static double length(float[] a) {
        double sum = 0;
        for (float v : a) {
            sum += (double) v * v;
        }
        return Math.sqrt(sum);
    }

    @TestFactory
    Stream<DynamicTest> vectorsOfEverySequenceAreCloseToTheFloat64Truth() {
        return GoldenModel.each(GoldenModel.ofVectors(), this::vectorsOfEverySequenceAreCloseToTheFloat64Truth);
    }

    private void vectorsOfEverySequenceAreCloseToTheFloat64Truth(GoldenModel golden) {
        try (LoadedModel model = load(golden)) {
            List<float[]> vectors =
                    model.embed(texts(golden.json()).normalize(false).build());
            List<float[]> units = model.embed(texts(golden.json()).build());
            int at = 0;
            for (JsonNode sequence : golden.sequences()) {
                String what = golden + " " + sequence.get("name").asText();
                float[] truth = truth(golden, sequence);
                double error = GoldenData.nmse(vectors.get(at), truth, 0);
                double limit = limit(model, sequence);
                double cosine = cosine(vectors.get(at), truth);
                System.out.printf("%s NMSE %.3g (limit %.3g), 1 - cosine %.3g%n", what, error, limit, 1 - cosine);
                assertTrue(error <= limit, what + ": NMSE " + error + " > " + limit);
                assertTrue(cosine >= Math.min(LEAST_COSINE, 1 - limit / 2), what + ": cosine " + cosine);
                assertEquals(1, length(units.get(at)), 1e-6, what);
                for (int i = 0; i < 8; i++) {
                    double expected =
                            sequence.get("first8_of_unit_vector").get(i).asDouble();
                    assertEquals(expected, truth[i] / length(truth), 1e-6, what + ": the file's own truth");
                }
                at++;
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> textsTogetherGiveWhatEachGivesAlone() {
        return GoldenModel.each(
                Stream.concat(GoldenModel.ofVectors(), GoldenModel.ofScores()),
                this::textsTogetherGiveWhatEachGivesAlone);
    }

    private void textsTogetherGiveWhatEachGivesAlone(GoldenModel golden) {
        // The longest text fills a step of its own, however small steps are to be.
        EmbeddingRequest request = texts(golden.json()).normalize(false).build();
        List<float[]> alone;
        try (LoadedModel model = load(golden)) {
            alone = golden.ranks()
                    ? request.texts().stream()
                            .map(t -> last(model, t, Graph.SCORES))
                            .toList()
                    : model.embed(request);
        }
        int most = request.texts().stream().mapToInt(text -> text.length).max().orElseThrow();
        LoadRequest small = golden.request()
                .maxSequences(request.texts().size())
                .outputs(golden.output())
                .contextLength(most)
                .maxBatchTokens(64)
                .build();
        try (LoadedModel model = engine.load(small)) {
            List<float[]> together = golden.ranks()
                    ? request.texts().parallelStream()
                            .map(t -> last(model, t, Graph.SCORES))
                            .toList()
                    : model.embed(request);
            for (int i = 0; i < alone.size(); i++) {
                double error = GoldenData.nmse(together.get(i), alone.get(i), 0);
                assertTrue(error < SAME_LIMIT, golden + " text " + i + ": NMSE " + error);
            }
        }
    }

    private static float[] last(LoadedModel model, int[] text, String output) {
        float[][] row = new float[1][];
        try (Session session = model.newSession()) {
            session.evaluate(text, Rows.LAST, output, (index, values) -> row[0] = values.clone());
        }
        return row[0];
    }

    @TestFactory
    Stream<DynamicTest> scoresOfEverySequenceAreCloseToTheFloat64Truth() {
        return GoldenModel.each(GoldenModel.ofScores(), this::scoresOfEverySequenceAreCloseToTheFloat64Truth);
    }

    private void scoresOfEverySequenceAreCloseToTheFloat64Truth(GoldenModel golden) {
        try (LoadedModel model = load(golden)) {
            for (JsonNode sequence : golden.sequences()) {
                String what = golden + " " + sequence.get("name").asText();
                float[] scores = shares(last(model, GoldenData.ints(sequence.get("ids")), Graph.SCORES));
                double error = GoldenData.nmse(scores, truth(golden, sequence), 0);
                double limit = limit(model, sequence);
                System.out.printf("%s NMSE %.3g (limit %.3g)%n", what, error, limit);
                assertTrue(error <= limit, what + ": NMSE " + error + " > " + limit);
            }
        }
    }

    /// The softmax over several labels.
    private static float[] shares(float[] scores) {
        if (scores.length == 1) {
            return scores;
        }
        double sum = 0;
        for (float score : scores) {
            sum += Math.exp(score);
        }
        float[] shares = new float[scores.length];
        for (int i = 0; i < shares.length; i++) {
            shares[i] = (float) (Math.exp(scores[i]) / sum);
        }
        return shares;
    }

    @Test
    void anEncoderReadsQueryAndDocumentWithTheirSeparators() {
        try (LoadedModel model = load("bert-rerank.q8_0", 4, Graph.SCORES)) {
            RerankRequest request = RerankRequest.builder("Hello world")
                    .document("she didn't see cats.")
                    .document("To be or not to be")
                    .build();
            float[] scores = model.rerank(request);
            int[] query = model.tokenizer().encode("Hello world", true, false);
            for (int i = 0; i < 2; i++) {
                int[] document = model.tokenizer().encode(request.documents().get(i), true, false);
                int[] both = Arrays.copyOf(query, query.length + document.length - 1);
                System.arraycopy(document, 1, both, query.length, document.length - 1);
                assertArrayEquals(last(model, both, Graph.SCORES), new float[] {scores[i]}, 1e-5f);
            }
        }
    }

    @Test
    void aDecoderScoresByTheShareOfYes() {
        try (LoadedModel model = load("qwen3-rerank.q8_0", 1, Graph.SCORES)) {
            float[] scores = model.rerank(
                    RerankRequest.builder("Hello").document(" world").build());
            int[] both = model.tokenizer().encode("Hello world", true, false);
            int[] first = model.tokenizer().encode("Hello", true, false);
            int[] second = model.tokenizer().encode(" world", true, false);
            assertEquals(both.length, first.length + second.length);
            assertEquals(shares(last(model, both, Graph.SCORES))[0], scores[0], 1e-5f);
        }
    }

    @Test
    void anotherPoolingIsMadeOfTheTokensOwnVectors() {
        JsonNode golden = json("bert.q8_0");
        try (LoadedModel model = load("bert.q8_0", 2, Graph.EMBEDDING, Graph.HIDDEN)) {
            EmbeddingRequest own = texts(golden).build();
            EmbeddingRequest named = texts(golden).pooling(Pooling.CLS).build();
            EmbeddingRequest mean = texts(golden).pooling(Pooling.MEAN).build();
            List<float[]> vectors = model.embed(own);
            List<float[]> same = model.embed(named);
            List<float[]> means = model.embed(mean);
            for (int i = 0; i < vectors.size(); i++) {
                assertArrayEquals(vectors.get(i), same.get(i), 1e-6f);
                assertEquals(own.texts().get(i).length == 1, cosine(vectors.get(i), means.get(i)) > 0.99999);
            }
        }
        try (LoadedModel model = load("bert.q8_0", 2, Graph.HIDDEN)) {
            for (float[] vector : model.embed(texts(golden).build())) {
                assertEquals(1, length(vector), 1e-6);
            }
        }
    }

    @Test
    void whatAnEncoderCannotDoIsAnErrorWithACode() {
        try (LoadedModel model = load("bert.q8_0", 1, Graph.LOGITS);
                Session session = model.newSession()) {
            GenerationRequest generate = GenerationRequest.of(new int[] {5}, SamplingParams.greedy(), 1);
            refused(ErrorCode.ARGUMENT, "encoder", () -> session.generate(generate, text -> {}));
            session.evaluate(new int[] {5, 6}, Rows.LAST, (index, row) -> {});
            refused(
                    ErrorCode.ARGUMENT,
                    "at once",
                    () -> session.evaluate(new int[] {7}, Rows.LAST, (index, row) -> {}));
            session.truncate(0);
            refused(
                    ErrorCode.CONTEXT_LENGTH,
                    "513",
                    () -> session.evaluate(new int[513], Rows.LAST, (index, row) -> {}));
            assertEquals(512, model.contextLength());
            session.evaluate(new int[512], Rows.LAST, (index, row) -> {});
        }
        refused(
                ErrorCode.ARGUMENT,
                "512 positions",
                () -> engine.load(LoadRequest.builder(file("bert.q8_0"))
                        .contextLength(513)
                        .outputs(Graph.EMBEDDING)
                        .build()));
        try (LoadedModel model = load("bert-rerank.q8_0", 1, Graph.EMBEDDING)) {
            EmbeddingRequest request = EmbeddingRequest.builder().text(5).build();
            refused(ErrorCode.ARGUMENT, "reranker", () -> model.embed(request));
        }
        refused(ErrorCode.ARGUMENT, "no output scores", () -> load("bert.q8_0", 1, Graph.SCORES));
    }

    private static void refused(String code, String text, org.junit.jupiter.api.function.Executable call) {
        TenonException e = assertThrows(TenonException.class, call);
        assertEquals(code, e.code());
        assertTrue(e.getMessage().contains(text), e.getMessage());
    }
}
