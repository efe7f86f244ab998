package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Texts of the embedded model to which tokens are proposed are those without proposals, since a row of logits has the
/// same bits in a step of any width.
class SpeculationTests {
    private static final Path FILE = GoldenData.embeddedModel();
    private static final int TOKENS = 120;
    /// A text that the model goes on with by saying it again.
    private static final String PROMPT = "The fox said hello to the bear. The fox said hello to the bear. The fox said";

    private int drafted;
    private int accepted;

    private List<Integer> generate(Engine engine, Map<String, String> settings, SamplingParams how) {
        List<Integer> tokens = new ArrayList<>();
        LoadRequest request = LoadRequest.builder(FILE).settings(settings).build();
        try (LoadedModel model = engine.load(request);
                Session session = model.newSession()) {
            Usage usage = session.generate(
                    GenerationRequest.builder()
                            .prompt(model.tokenizer().encode(PROMPT, true, true))
                            .sampling(how)
                            .maxNewTokens(TOKENS)
                            .ignoreEndOfGeneration(true)
                            .build(),
                    GenerationListener.ofTokens(token -> tokens.add(token.id())));
            drafted += usage.draftedTokens();
            accepted += usage.acceptedTokens();
        }
        return tokens;
    }

    private void sameTexts(Map<String, String> settings) {
        try (Engine engine = StandaloneEngine.create(Map.of())) {
            for (SamplingParams how : List.of(
                    SamplingParams.greedy(),
                    SamplingParams.builder().seed(5).build(),
                    SamplingParams.builder().repeatPenalty(1.3f).seed(6).build())) {
                List<Integer> plain = generate(engine, Map.of(), how);
                assertEquals(plain, generate(engine, settings, how), how.toString());
            }
        }
        assertTrue(0 < accepted && accepted <= drafted, accepted + " of " + drafted);
    }

    @Test
    void proposedByEarlierTokens() {
        sameTexts(Map.of("speculate", "ngram"));
    }

    @Test
    void proposedByAModel() {
        sameTexts(Map.of("speculate", "draft", "draft.model", FILE.toString()));
    }
}
