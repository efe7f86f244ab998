package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// What follows a shift of the context is what a fresh session generates that is given the remaining tokens.
class ContextShiftTests {
    private static final int CONTEXT = 64;
    private static final int KEEP = 8;
    private static final int TOKENS = 150;

    @Test
    void ofTheEmbeddedModel() {
        shifts(GoldenData.embeddedModel());
    }

    @Test
    void ofAModelWithStates() {
        shifts(GoldenData.larger("golden/models-more/granitehybrid.q8_0.gguf"));
    }

    private static void shifts(Path file) {
        List<Integer> prompt = IntStream.range(0, 20).mapToObj(i -> 3 + 7 * i).toList();
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel model = engine.load(
                        LoadRequest.builder(file).contextLength(CONTEXT).build())) {
            List<Integer> expected = new ArrayList<>();
            List<Integer> left = new ArrayList<>(prompt);
            while (expected.size() < TOKENS) {
                List<Integer> more = generate(model, left, -1, TOKENS - expected.size());
                expected.addAll(more);
                left.addAll(more);
                left.subList(KEEP, KEEP + (left.size() - KEEP) / 2).clear();
            }
            assertEquals(expected, generate(model, prompt, KEEP, TOKENS));
        }
    }

    private static List<Integer> generate(LoadedModel model, List<Integer> prompt, int keep, int most) {
        List<Integer> tokens = new ArrayList<>();
        try (Session session = model.newSession()) {
            session.generate(
                    GenerationRequest.builder()
                            .prompt(prompt.stream().mapToInt(token -> token).toArray())
                            .sampling(SamplingParams.greedy())
                            .maxNewTokens(most)
                            .ignoreEndOfGeneration(true)
                            .contextShift(keep)
                            .build(),
                    GenerationListener.ofTokens(token -> tokens.add(token.id())));
        }
        return tokens;
    }
}
