package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.generate;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Generations whose tokens are restricted by a constraint.
@Timeout(600)
class ConstraintTests extends GenerationFixture {
    /// Allows two tokens at each place of a text of fixed length; a pair of equal ones is forced.
    private record Pairs(int[][] pairs, int[] at) implements TokenConstraint {
        @Override
        public void mask(long[] words) {
            Arrays.fill(words, 0);
            for (int token : pairs[at[0]]) {
                words[token / 64] |= 1L << token;
            }
        }

        @Override
        public void accept(int token) {
            assertTrue(pairs[at[0]][0] == token || pairs[at[0]][1] == token, "token " + token + " at " + at[0]);
            at[0]++;
        }

        @Override
        public boolean isComplete() {
            return isEnded();
        }

        @Override
        public boolean isEnded() {
            return at[0] == pairs.length;
        }

        @Override
        public int[] forced() {
            int end = at[0];
            while (end < pairs.length && pairs[end][0] == pairs[end][1]) {
                end++;
            }
            return Arrays.stream(pairs, at[0], end).mapToInt(pair -> pair[0]).toArray();
        }

        @Override
        public TokenConstraint copy() {
            return new Pairs(pairs, at.clone());
        }
    }

    private static final Pairs TEXT =
            new Pairs(new int[][] {{11, 12}, {13, 13}, {14, 14}, {15, 16}, {17, 18}, {19, 19}}, new int[1]);

    private static GenerationRequest.Builder constrained() {
        return GenerationRequest.builder()
                .prompt(PROMPT)
                .sampling(SamplingParams.greedy())
                .ignoreEndOfGeneration(true)
                .constraint(TEXT);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void onlyAllowedTokensComeAndForcedOnesTakeNoStep(boolean deviceSamples) {
        device.chooses = deviceSamples;
        try (LoadedModel model = model(1)) {
            for (int i = 0; i < 2; i++) { // the request's constraint stays as it is
                try (Session session = model.newSession()) {
                    int before = device.steps.get();
                    List<GeneratedToken> tokens = new ArrayList<>();
                    var usage = session.generate(constrained().build(), GenerationListener.ofTokens(tokens::add));
                    assertEquals(6, tokens.size());
                    assertEquals(13, tokens.get(1).id());
                    assertEquals(14, tokens.get(2).id());
                    assertEquals(FinishReason.STOP, usage.finish());
                    assertEquals(PROMPT.length + 6, session.length());
                    assertEquals(3, device.steps.get() - before, "one a sampled token");
                }
            }
        }
    }

    @Test
    void theLimitEndsForcedTokensToo() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            assertEquals(
                    2, generate(session, constrained().maxNewTokens(2).build()).size());
            assertEquals(PROMPT.length + 2, session.length());
        }
    }

    @Test
    void tokensWithLogProbabilitiesAreAllSampled() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            List<GeneratedToken> tokens = new ArrayList<>();
            session.generate(constrained().logProbabilities(0).build(), GenerationListener.ofTokens(tokens::add));
            assertEquals(6, tokens.size());
            assertEquals(6, device.steps.get(), "one a token");
        }
    }
}
