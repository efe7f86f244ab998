package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
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

/// A prompt whose first pages another sequence has computed gives the logits that it gives where it has computed
/// them itself, bit for bit: the embedded model, and the language models of the larger golden set.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SharedPagesTests {
    private static final int LENGTH = 150;
    /// Of the prompt's tokens, those in full pages of 64.
    private static final int SHARED = 128;

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
    Stream<DynamicTest> sharedPagesChangeNoLogits() {
        Stream<DynamicTest> embedded = Stream.of(DynamicTest.dynamicTest(
                "embedded", () -> sharedPagesChangeNoLogits(LoadRequest.of(GoldenData.embeddedModel()))));
        return Stream.concat(
                embedded,
                GoldenModel.each(
                        GoldenModel.ofLanguage(),
                        golden -> sharedPagesChangeNoLogits(golden.request().build())));
    }

    /// Sequences with states share nothing.
    private static boolean hasStates(Path model) {
        try (GgufFile file = GgufReader.open(model, TensorTypes.of(GoldenData.FORMATS))) {
            return !GoldenData.graph(file).opsWithState().isEmpty();
        }
    }

    private void sharedPagesChangeNoLogits(LoadRequest file) {
        try (LoadedModel model = engine.load(file.toBuilder().contextLength(256).build())) {
            int[] prompt = new Random(1)
                    .ints(LENGTH, 0, model.config().vocabularySize())
                    .toArray();
            int shared = hasStates(file.path()) ? 0 : SHARED;
            List<float[]> own = new ArrayList<>();
            try (Session session = model.newSession()) {
                session.evaluate(Arrays.copyOf(prompt, SHARED), Rows.NONE, (index, row) -> {});
                generate(session, own, Arrays.copyOfRange(prompt, SHARED, LENGTH));
            }
            for (int i = 0; i < 2; i++) {
                List<float[]> logits = new ArrayList<>();
                try (Session session = model.newSession()) {
                    Usage usage = generate(session, logits, prompt);
                    assertEquals(shared, usage.cachedTokens());
                }
                if (shared == 0) {
                    return; // nothing is shared, and chunks of other lengths may round differently
                }
                assertEquals(own.size(), logits.size());
                for (int step = 0; step < own.size(); step++) {
                    assertArrayEquals(own.get(step), logits.get(step), "step " + step);
                }
            }
        }
    }

    private static Usage generate(Session session, List<float[]> logits, int... prompt) {
        return session.generate(
                GenerationRequest.builder()
                        .prompt(prompt)
                        .sampling(SamplingParams.greedy())
                        .maxNewTokens(3)
                        .ignoreEndOfGeneration(true)
                        .processors(List.of((history, row) -> logits.add(row.clone())))
                        .build(),
                text -> {});
    }
}
