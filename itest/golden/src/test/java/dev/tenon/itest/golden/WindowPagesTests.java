package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.graph.WindowLayers;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.control.SchedulingStatus;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/// Models of the golden sets some layers of which see a window only give the same bits whether those layers keep
/// their window or all positions: in prompts of many windows that come in pieces, after a prompt that began alike, in
/// restored sessions, and after tokens were taken back, few or many.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WindowPagesTests {
    private static final int CONTEXT = 2048;
    /// Tokens of a step.
    private static final int PIECE = 96;
    /// Tokens of a prompt; less than a page of 64 is left over.
    private static final int LENGTH = 700;
    private static final int SHARED = 640;

    private Engine engine;

    @BeforeAll
    void start() {
        engine = StandaloneEngine.create(Map.of());
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    @TestFactory
    Stream<DynamicTest> windowsChangeNoLogits() {
        return GoldenModel.each(
                GoldenModel.ofLanguage().filter(golden -> hasShortWindows(golden.path())),
                golden -> windowsChangeNoLogits(golden.request()));
    }

    private static boolean hasShortWindows(Path model) {
        try (GgufFile file = GgufReader.open(model, TensorTypes.of(GoldenData.FORMATS))) {
            int span = WindowLayers.of(GoldenData.graph(file).expanded()).span();
            return span > 0 && span < PIECE;
        }
    }

    private void windowsChangeNoLogits(LoadRequest.Builder request) {
        List<float[]> whole = logits(request, "off");
        List<float[]> windows = logits(request, "on");
        assertEquals(whole.size(), windows.size());
        for (int i = 0; i < whole.size(); i++) {
            assertArrayEquals(whole.get(i), windows.get(i), "row " + i);
        }
    }

    private List<float[]> logits(LoadRequest.Builder request, String windows) {
        List<float[]> rows = new ArrayList<>();
        try (LoadedModel model = engine.load(request.contextLength(CONTEXT)
                .maxBatchTokens(PIECE)
                .maxSequences(2)
                .settings(Map.of("cache.windows", windows, "prefix.states.mb", "1"))
                .build())) {
            int[] text = random(model, 1);
            int[] prompt = random(model, 2);
            SchedulingStatus status = ((ScheduledModel) model).scheduling();
            assertEquals(windows.equals("on"), status.windowPages() > 0 && status.windowPages() < status.pages());
            try (Session session = model.newSession();
                    Session other = model.newSession()) {
                session.evaluate(text, Rows.ALL, (index, row) -> rows.add(row.clone()));
                restored(session, other, rows);
                other.truncate(LENGTH - 10); // within what is kept before a window
                generate(other, rows, 1, 2, 3);
                other.truncate(0);
                assertEquals(0, generate(other, rows, prompt));
                session.truncate(0);
                assertEquals(SHARED, generate(session, rows, prompt));
                session.truncate(PIECE);
                generate(session, rows, Arrays.copyOfRange(prompt, PIECE, 2 * PIECE));
            }
            status = ((ScheduledModel) model).scheduling();
            assertEquals(status.pages(), status.freePages());
            assertEquals(status.windowPages(), status.freeWindowPages());
        }
        assertTrue(rows.size() > LENGTH);
        return rows;
    }

    private static int[] random(LoadedModel model, int seed) {
        return new Random(seed).ints(LENGTH, 0, model.config().vocabularySize()).toArray();
    }

    private static void restored(Session from, Session to, List<float[]> rows) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            from.save(bytes);
            to.restore(new ByteArrayInputStream(bytes.toByteArray()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        to.evaluate(new int[] {4, 5, 6}, Rows.ALL, (index, row) -> rows.add(row.clone()));
    }

    /// {@return how many tokens did not run}
    private static int generate(Session session, List<float[]> rows, int... prompt) {
        return session.generate(
                        GenerationRequest.builder()
                                .prompt(prompt)
                                .sampling(SamplingParams.greedy())
                                .maxNewTokens(3)
                                .ignoreEndOfGeneration(true)
                                .processors(List.of((history, row) -> rows.add(row.clone())))
                                .build(),
                        text -> {})
                .cachedTokens();
    }
}
