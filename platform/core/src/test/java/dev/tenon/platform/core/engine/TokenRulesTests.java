package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.TokenRules;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Generations whose tokens are restricted by rules. Each limit on time ends a hang.
@Timeout(600)
class TokenRulesTests extends GenerationFixture {
    private static final List<Integer> FREE = FakeBackend.expected(PROMPT, VOCAB, 12);

    private void samplesOn(boolean device) {
        this.device.chooses = device;
        this.device.takesMasks = device;
    }

    private static TokenRules stops(int least, int token) {
        return new TokenRules(least, Set.of(token), List.of(), Set.of());
    }

    private static GenerationRequest.Builder ruled(TokenRules rules) {
        return greedy(12, PROMPT).toBuilder().rules(rules);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aStopTokenIsTheLastOne(boolean onDevice) {
        samplesOn(onDevice);
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            List<Integer> tokens = new ArrayList<>();
            var usage = session.generate(
                    ruled(stops(0, FREE.get(6))).build(), GenerationListener.ofTokens(token -> tokens.add(token.id())));
            assertEquals(FREE.subList(0, 7), tokens);
            assertEquals(FinishReason.STOP, usage.finish());
            assertEquals(PROMPT.length + 7, session.length());
            assertEquals(onDevice, !device.runs.isEmpty(), "runs of several steps, as nothing is masked");
            assertEquals(0, device.masked.get());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void beforeTheLeastNumberOfTokensNoneEndsIt(boolean onDevice) {
        samplesOn(onDevice);
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            List<Integer> tokens =
                    generate(session, ruled(stops(3, FREE.get(2))).build());
            assertEquals(FREE.subList(0, 2), tokens.subList(0, 2));
            assertEquals(List.of(0, FREE.get(2)), tokens.subList(2, tokens.size()), "masked, then the end");
            assertEquals(onDevice ? 3 : 0, device.masked.get());
        }
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            List<Integer> tokens =
                    generate(session, ruled(stops(2, FREE.get(2))).build());
            assertEquals(FREE.subList(0, 3), tokens);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void onlyAllowedTokensCome(boolean onDevice) {
        samplesOn(onDevice);
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            Set<Integer> allowed = Set.of(FREE.get(0), FREE.get(1), 3, 200);
            List<Integer> tokens = generate(
                    session,
                    ruled(new TokenRules(0, Set.of(), List.of(), allowed)).build());
            assertEquals(FREE.subList(0, 2), tokens.subList(0, 2));
            assertTrue(allowed.containsAll(tokens), tokens::toString);
            assertEquals(12, tokens.size());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void badWordsDoNotComeAndTheirBeginningsDo(boolean onDevice) {
        samplesOn(onDevice);
        List<List<Integer>> words =
                List.of(FREE.subList(1, 4), List.of(PROMPT[2], FREE.get(0)), List.of(FREE.get(2), FREE.get(1)));
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            List<Integer> tokens = generate(
                    session, ruled(new TokenRules(0, Set.of(), words, Set.of())).build());
            assertEquals(FREE.subList(0, 3), tokens.subList(0, 3), "the prompt is no part of a word");
            assertFalse(tokens.get(3).equals(FREE.get(3)));
        }
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            List<List<Integer>> single = List.of(List.of(FREE.get(0)));
            List<Integer> tokens = generate(
                    session,
                    ruled(new TokenRules(0, Set.of(), single, Set.of())).build());
            assertFalse(tokens.contains(FREE.get(0)), tokens::toString);
        }
    }

    /// Allows some tokens, and any number of them.
    private record Only(Set<Integer> tokens) implements TokenConstraint {
        @Override
        public void mask(long[] words) {
            Arrays.fill(words, 0);
            tokens.forEach(token -> words[token / 64] |= 1L << token);
        }

        @Override
        public void accept(int token) {
            assertTrue(tokens.contains(token));
        }

        @Override
        public boolean isComplete() {
            return false;
        }

        @Override
        public boolean isEnded() {
            return false;
        }

        @Override
        public TokenConstraint copy() {
            return this;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rulesHoldBesideAConstraint(boolean onDevice) {
        samplesOn(onDevice);
        TokenRules rules = new TokenRules(4, Set.of(8), List.of(List.of(9)), Set.of());
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            Only two = new Only(Set.of(8, 9, 70));
            List<Integer> tokens =
                    generate(session, ruled(rules).constraint(two).build());
            assertEquals(List.of(70, 70, 70, 70, 8), tokens, "first what may come, then what ends it");
        }
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            GenerationRequest none =
                    ruled(rules).constraint(new Only(Set.of(8, 9))).build();
            RuntimeException e = assertThrows(RuntimeException.class, () -> generate(session, none));
            assertTrue(e.getMessage().contains("exclude each other"), e::toString);
        }
    }

    @Test
    void tokensOfOtherVocabulariesAreRefused() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            for (TokenRules rules : List.of(
                    stops(0, VOCAB),
                    new TokenRules(0, Set.of(), List.of(List.of(1, -1)), Set.of()),
                    new TokenRules(0, Set.of(), List.of(), Set.of(VOCAB)))) {
                assertThrows(
                        IllegalArgumentException.class,
                        () -> generate(session, ruled(rules).build()),
                        rules::toString);
            }
        }
        assertThrows(IllegalArgumentException.class, () -> stops(-1, 1));
        assertThrows(IllegalArgumentException.class, () -> new TokenRules(0, Set.of(), List.of(List.of()), Set.of()));
    }

    @Test
    void probabilitiesAreThoseOfTheModelOrOfTheSampler() {
        try (LoadedModel model = model(1)) {
            SamplingParams two = SamplingParams.builder()
                    .temperature(1)
                    .topK(2)
                    .topP(1)
                    .minP(0)
                    .seed(3)
                    .build();
            GenerationRequest.Builder request = GenerationRequest.builder()
                    .prompt(PROMPT)
                    .sampling(two)
                    .maxNewTokens(1)
                    .ignoreEndOfGeneration(true)
                    .logProbabilities(4);
            // The best logit is 1, all others -1.
            double rest = Math.exp(-2);
            GeneratedToken before = first(model, request.build());
            assertEquals(4, before.top().size());
            assertEquals(
                    -Math.log(1 + (VOCAB - 1) * rest), before.top().getFirst().logProbability(), 1e-4);
            GeneratedToken after =
                    first(model, request.sampledProbabilities(true).build());
            assertEquals(before.id(), after.id());
            assertEquals(2, after.top().size(), "those that top-k left");
            assertEquals(-Math.log(1 + rest), after.top().getFirst().logProbability(), 1e-4);
            assertEquals(Math.log(rest / (1 + rest)), after.top().getLast().logProbability(), 1e-4);
            SamplerProvider silent = (params, size) -> new Sampler() {
                @Override
                public int sample(float[] logits) {
                    return 0;
                }

                @Override
                public void accept(int token) {
                    // it has no state
                }
            };
            GenerationRequest untold = request.sampler(silent).build();
            assertTrue(assertThrows(RuntimeException.class, () -> first(model, untold))
                    .getMessage()
                    .contains("does not tell"));
        }
    }

    private static GeneratedToken first(LoadedModel model, GenerationRequest request) {
        List<GeneratedToken> tokens = new ArrayList<>();
        try (Session session = model.newSession()) {
            session.generate(request, GenerationListener.ofTokens(tokens::add));
        }
        return tokens.getFirst();
    }
}
