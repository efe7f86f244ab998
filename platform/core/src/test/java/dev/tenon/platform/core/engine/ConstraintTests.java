package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.generate;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.ExecutionException;
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
        public boolean quick(boolean wanted) {
            return true;
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
        device.takesMasks = deviceSamples;
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
        assertEquals(deviceSamples ? 6 : 0, device.masked.get(), "tokens chosen by masks");
        assertEquals(deviceSamples ? 0 : 6, device.read.get(), "logits read");
    }

    /// Any of 16 tokens, which depend on the one before; the text never ends.
    private static final class Wide implements TokenConstraint {
        private int last;

        @Override
        public void mask(long[] words) {
            Arrays.fill(words, 0);
            words[0] = 0xffffL << (last % 40);
        }

        @Override
        public void accept(int token) {
            assertTrue(token >= last % 40 && token < last % 40 + 16, "token " + token + " after " + last);
            last = token;
        }

        @Override
        public boolean isComplete() {
            return true;
        }

        @Override
        public boolean isEnded() {
            return false;
        }

        @Override
        public boolean quick(boolean wanted) {
            return true;
        }

        @Override
        public TokenConstraint copy() {
            Wide copy = new Wide();
            copy.last = last;
            return copy;
        }
    }

    private static GenerationRequest.Builder hot(int seed) {
        return GenerationRequest.builder()
                .prompt(PROMPT)
                .sampling(SamplingParams.greedyBuilder()
                        .temperature(3)
                        .topK(40)
                        .topP(0.95f)
                        .seed(seed)
                        .build())
                .maxNewTokens(60)
                .ignoreEndOfGeneration(true);
    }

    @Test
    void theSameSeedGivesTheSameTextOnHostAndDevice() {
        List<List<Integer>> texts = new ArrayList<>();
        for (boolean deviceSamples : new boolean[] {false, true}) {
            device.chooses = deviceSamples;
            device.takesMasks = deviceSamples;
            for (int seed = 0; seed < 5; seed++) {
                try (LoadedModel model = model(1);
                        Session session = model.newSession()) {
                    texts.add(generate(session, hot(seed).constraint(new Wide()).build()));
                }
            }
        }
        assertEquals(texts.subList(0, 5), texts.subList(5, 10));
        assertEquals(5, new HashSet<>(texts).size(), "different seeds");
        assertEquals(300, device.masked.get(), "tokens chosen by masks");
        assertEquals(300, device.read.get(), "logits read, by the host alone");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noLogitsComeForOthersBesideAConstraint(boolean takesMasks) throws Exception {
        device.chooses = true;
        device.takesMasks = takesMasks;
        Events free = new Events(Long.MAX_VALUE);
        Events bound = new Events(Long.MAX_VALUE);
        try (LoadedModel model = model(2);
                Session first = model.newSession();
                Session second = model.newSession()) {
            var one = first.submit(hot(1).build());
            var other = second.submit(hot(2).constraint(new Wide()).build());
            one.subscribe(free);
            other.subscribe(bound);
            free.end.get();
            bound.end.get();
        }
        assertEquals(60, free.tokens().size());
        assertEquals(60, bound.tokens().size());
        assertEquals(takesMasks ? 60 : 0, device.masked.get(), "tokens chosen by masks");
        assertEquals(takesMasks ? 0 : 60, device.read.get(), "logits read");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aConstraintThatFailsEndsItsGenerationAlone(boolean deviceSamples) throws Exception {
        device.chooses = deviceSamples;
        device.takesMasks = deviceSamples;
        TokenConstraint broken = new TokenConstraint() {
            private int accepted;

            @Override
            public void mask(long[] words) {
                if (accepted == 3) {
                    throw new IllegalArgumentException("the grammar is too large");
                }
                Arrays.fill(words, -1);
            }

            @Override
            public void accept(int token) {
                accepted++;
            }

            @Override
            public boolean isComplete() {
                return true;
            }

            @Override
            public boolean isEnded() {
                return false;
            }

            @Override
            public TokenConstraint copy() {
                return this;
            }
        };
        Events sound = new Events(Long.MAX_VALUE);
        Events failing = new Events(Long.MAX_VALUE);
        try (LoadedModel model = model(2);
                Session first = model.newSession();
                Session second = model.newSession()) {
            var one = first.submit(hot(1).constraint(new Wide()).build());
            var other = second.submit(hot(2).constraint(broken).build());
            one.subscribe(sound);
            other.subscribe(failing);
            sound.end.get();
            var failure = assertThrows(ExecutionException.class, failing.end::get);
            assertEquals("the grammar is too large", failure.getCause().getMessage());
        }
        assertEquals(60, sound.tokens().size());
        assertEquals(3, failing.tokens().size());
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
