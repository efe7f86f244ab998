package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.NamedRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Generations whose sampler is chosen by name.
class NamedSamplerTests extends GenerationFixture {
    private static final int LONG = 200;

    /// `second=N`: each N-th token, counted from the last one that was not the best, is the second best.
    private static final class Second implements SamplerProvider {
        @Override
        public String id() {
            return "second";
        }

        @Override
        public Sampler create(SamplingParams params, int vocabularySize) {
            return new SecondSampler(5);
        }

        @Override
        public Sampler create(SamplingParams params, int vocabularySize, String argument, Tokenizer tokenizer) {
            if (!argument.matches("\\d*")) {
                throw new IllegalArgumentException("'" + argument + "' is no number");
            }
            return argument.isEmpty() ? create(params, vocabularySize) : new SecondSampler(Integer.parseInt(argument));
        }
    }

    private static final class SecondSampler implements Sampler {
        private final int every;
        private int accepted;

        SecondSampler(int every) {
            this.every = every;
        }

        @Override
        public int sample(float[] logits) {
            int best = best(logits);
            if (accepted % every == 0) {
                logits[best] = Float.NEGATIVE_INFINITY;
                accepted = 0;
            }
            return best(logits);
        }

        private static int best(float[] logits) {
            int best = 0;
            for (int id = 1; id < logits.length; id++) {
                best = logits[id] > logits[best] ? id : best;
            }
            return best;
        }

        @Override
        public void accept(int token) {
            accepted++;
        }
    }

    private final SamplerProvider second = new Second();

    private LoadedModel model(Map<String, String> settings) {
        return engine.load(request().toBuilder()
                .maxSequences(1)
                .contextLength(400)
                .maxBatchTokens(24)
                .settings(settings)
                .build());
    }

    private static GenerationRequest ask(LoadedModel model, String sampler) {
        SamplingParams params = SamplingParams.greedy();
        return GenerationRequest.builder()
                .prompt(PROMPT)
                .sampling(params)
                .sampler(sampler == null ? null : NamedRules.sampler(model, params, sampler))
                .maxNewTokens(LONG)
                .ignoreEndOfGeneration(true)
                .build();
    }

    /// What a generation gave.
    private record Reply(List<Integer> ids, Usage usage) {}

    private static Reply reply(LoadedModel model, GenerationRequest request) {
        List<Integer> ids = new ArrayList<>();
        try (Session session = model.newSession()) {
            Usage usage = session.generate(request, GenerationListener.ofTokens(token -> ids.add(token.id())));
            return new Reply(ids, usage);
        }
    }

    @Test
    void theOneThatARequestNamesSamplesForIt() {
        registry.add(second);
        try (LoadedModel model = model(Map.of())) {
            List<Integer> best = FakeBackend.expected(PROMPT, VOCAB, LONG);
            assertEquals(best, reply(model, ask(model, null)).ids());
            List<Integer> third = reply(model, ask(model, "second=3")).ids();
            assertEquals(LONG, third.size());
            assertNotEquals(best, third);
            List<Integer> fifth = reply(model, ask(model, "second")).ids();
            assertNotEquals(third, fifth);
            assertEquals(fifth, reply(model, ask(model, "second=5")).ids());
            GenerationRequest once = ask(model, "second=3");
            assertEquals(third, reply(model, once).ids());
            assertEquals(third, reply(model, once.toBuilder().build()).ids(), "each generation has its own");
        }
    }

    @Test
    void aDeviceThatSamplesLeavesItTheLogits() {
        registry.add(second);
        try (LoadedModel model = model(Map.of())) {
            List<Integer> onHost = reply(model, ask(model, "second=3")).ids();
            device.chooses = true;
            reply(model, ask(model, null));
            assertTrue(device.runs.size() > 0, "the device samples where nothing is named");
            device.runs.clear();
            assertEquals(onHost, reply(model, ask(model, "second=3")).ids());
            assertEquals(List.of(), List.copyOf(device.runs));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void proposalsChangeNoText(boolean chooses) {
        registry.add(second);
        device.chooses = chooses;
        List<Integer> plain;
        try (LoadedModel model = model(Map.of())) {
            plain = reply(model, ask(model, "second=3")).ids();
        }
        try (LoadedModel model = model(
                Map.of("speculate", "draft", "draft.model", request().path().toString()))) {
            Reply reply = reply(model, ask(model, "second=3"));
            assertEquals(plain, reply.ids());
            assertTrue(reply.usage().acceptedTokens() > 0, reply.usage()::toString);
            assertTrue(reply.usage().acceptedTokens() < reply.usage().draftedTokens(), reply.usage()::toString);
        }
    }

    @Test
    void aNameThatNothingOffersOrAWrongArgumentIsRefused() {
        try (LoadedModel model = model(Map.of())) {
            assertRefused(model, "second", "There is no sampler 'second'; no bundle offers any");
            registry.add(second);
            registry.add(new Plain());
            assertRefused(model, "other=1", "There is no sampler 'other'; there are plain, second");
            assertRefused(model, "=1", "There is no sampler ''; there are plain, second");
            assertRefused(model, "second=x", "The sampler 'second' refuses its argument: 'x' is no number");
            assertRefused(model, "plain=1", "The sampler 'plain' refuses its argument: it takes none");
            assertEquals(LONG, reply(model, ask(model, "plain")).ids().size());
        }
    }

    /// Takes no argument.
    private static final class Plain implements SamplerProvider {
        @Override
        public String id() {
            return "plain";
        }

        @Override
        public Sampler create(SamplingParams params, int vocabularySize) {
            return new SecondSampler(2);
        }
    }

    private static void assertRefused(LoadedModel model, String name, String message) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> ask(model, name));
        assertEquals(message, e.getMessage());
    }

    /// As with logits processors, what a generation has is its own until it ends.
    @Test
    void aGenerationGoesOnWhenTheBundleGoes() {
        registry.add(second);
        try (LoadedModel model = model(Map.of())) {
            List<Integer> whole = reply(model, ask(model, "second=3")).ids();
            List<Integer> ids = new ArrayList<>();
            try (Session session = model.newSession()) {
                session.generate(ask(model, "second=3"), GenerationListener.ofTokens(token -> {
                    ids.add(token.id());
                    if (ids.size() == 10) {
                        registry.remove(second);
                    }
                }));
            }
            assertEquals(whole, ids);
            assertRefused(model, "second=3", "There is no sampler 'second'; no bundle offers any");
        }
    }
}
