package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Logits of a restored session have the bits of those of the one that was saved, whatever the model keeps of a
/// sequence; another model refuses it. So have those of prompts that go on from what their model was closed with.
class SavedSessionTests {
    /// More than two pages of 64.
    private static final int[] TOKENS =
            IntStream.range(0, 150).map(i -> 3 + 7 * i % 250).toArray();
    private static final int SAVED = 140;
    /// So long that a state is kept at the end of its last page, whatever a step takes here.
    private static final int[] LONG_PROMPT =
            IntStream.range(0, 16 * 64 + 10).map(i -> 3 + 7 * i % 250).toArray();

    @TempDir
    Path folder;

    @Test
    void ofTheEmbeddedModel() throws IOException {
        isRestored(GoldenData.embeddedModel(), Map.of());
    }

    @Test
    void withKeysInEightBits() throws IOException {
        isRestored(GoldenData.embeddedModel(), Map.of("cache.type.k", "q8_0"));
    }

    @Test
    void ofAModelWithStates() throws IOException {
        isRestored(GoldenData.larger("golden/models-more/granitehybrid.q8_0.gguf"), Map.of());
    }

    private static void isRestored(Path file, Map<String, String> settings) throws IOException {
        byte[] bytes;
        List<float[]> expected = new ArrayList<>();
        try (Engine engine = StandaloneEngine.create(settings);
                LoadedModel model = engine.load(LoadRequest.of(file));
                Session session = model.newSession()) {
            session.evaluate(Arrays.copyOf(TOKENS, SAVED), Rows.NONE, (index, logits) -> {});
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            session.save(out);
            bytes = out.toByteArray();
            rest(session, expected);
        }
        List<float[]> found = new ArrayList<>();
        try (Engine engine = StandaloneEngine.create(settings);
                LoadedModel model = engine.load(LoadRequest.of(file));
                Session other = model.newSession();
                Session session = model.newSession()) {
            other.evaluate(Arrays.copyOf(TOKENS, 10), Rows.NONE, (index, logits) -> {});
            session.restore(new ByteArrayInputStream(bytes));
            assertEquals(SAVED, session.length());
            rest(session, found);
        }
        assertEquals(TOKENS.length - SAVED, found.size());
        for (int i = 0; i < found.size(); i++) {
            assertArrayEquals(expected.get(i), found.get(i));
        }
    }

    private static void rest(Session session, List<float[]> rows) {
        session.evaluate(
                Arrays.copyOfRange(TOKENS, SAVED, TOKENS.length),
                Rows.ALL,
                (index, logits) -> rows.add(logits.clone()));
    }

    /// A model that is loaded again goes on from pages, and a state, that it had when it was closed.
    @Test
    void prefixesOutliveTheirModel() throws IOException {
        areTakenBack(GoldenData.embeddedModel());
        areTakenBack(GoldenData.larger("golden/models-more/granitehybrid.q8_0.gguf"));
    }

    private void areTakenBack(Path file) throws IOException {
        Map<String, String> settings =
                Map.of("prefix.folder", folder.toString(), "prefix.keep.mb", "64", "batch.tokens", "64");
        List<float[]> expected = new ArrayList<>();
        List<float[]> found = new ArrayList<>();
        for (List<float[]> logits : List.of(expected, found)) {
            try (Engine engine = StandaloneEngine.create(settings);
                    LoadedModel model = engine.load(LoadRequest.builder(file)
                            .contextLength(LONG_PROMPT.length + 3)
                            .build());
                    Session session = model.newSession()) {
                GenerationRequest asked = GenerationRequest.builder()
                        .prompt(LONG_PROMPT)
                        .sampling(SamplingParams.greedy())
                        .maxNewTokens(3)
                        .ignoreEndOfGeneration(true)
                        .processors(List.of((history, row) -> logits.add(row.clone())))
                        .build();
                Usage usage = session.generate(asked, text -> {});
                assertEquals(logits == expected ? 0 : 16 * 64, usage.cachedTokens());
            }
        }
        assertEquals(3, found.size());
        for (int i = 0; i < found.size(); i++) {
            assertArrayEquals(expected.get(i), found.get(i));
        }
    }

    @Test
    void anotherModelRefusesIt() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Path states = GoldenData.larger("golden/models-more/granitehybrid.q8_0.gguf");
        try (Engine engine = StandaloneEngine.create(Map.of())) {
            try (LoadedModel model = engine.load(LoadRequest.of(GoldenData.embeddedModel()));
                    Session session = model.newSession()) {
                session.evaluate(TOKENS, Rows.NONE, (index, logits) -> {});
                session.save(out);
            }
            try (LoadedModel model = engine.load(LoadRequest.of(states));
                    Session session = model.newSession()) {
                TenonException e = assertThrows(
                        TenonException.class, () -> session.restore(new ByteArrayInputStream(out.toByteArray())));
                assertEquals(ErrorCode.SAVED_SESSION, e.code());
                assertEquals(0, session.length());
            }
        }
    }
}
