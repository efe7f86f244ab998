package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.MANY;
import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Tokens that the device chooses in steps with prompts in them, and in steps with rows that are
/// the host's. What is expected is in each case what the host would have chosen.
class MixedStepTests {
    private static final SamplingParams PENALISED = params(0, 0, 2, 0);

    private final ServiceRegistry registry = new ServiceRegistry();
    private final FakeBackend device = new FakeBackend("device", 2);
    private final TenonEngine engine = engine();

    private TenonEngine engine() {
        device.chooses = true;
        registry.add(device);
        registry.add(new FakeFormat());
        registry.add(new FakeLlama());
        registry.add(new ByteLevelBpeProvider());
        registry.add(new DefaultSamplerProvider());
        return new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));
    }

    private static SamplingParams params(float temperature, int topK, float penalty, long seed) {
        return SamplingParams.builder()
                .temperature(temperature)
                .topK(topK)
                .topP(1)
                .minP(0)
                .repeatPenalty(penalty)
                .seed(seed)
                .build();
    }

    private static GenerationRequest sampled(SamplingParams how, int max, int... prompt) {
        return GenerationRequest.builder()
                .prompt(prompt)
                .sampling(how)
                .maxNewTokens(max)
                .ignoreEndOfGeneration(true)
                .build();
    }

    private static int[] prompt(int tokens, int first) {
        int[] prompt = new int[tokens];
        for (int i = 0; i < tokens; i++) {
            prompt[i] = (first + 3 * i) % VOCAB;
        }
        return prompt;
    }

    /// One session generates all the while; prompts of several steps come one after the other, and
    /// their generations.
    ///
    /// @param firstHow how the first session chooses
    /// @param how how the others choose
    /// @return the first one's tokens, as many as all have heard, then the others'
    private List<List<Integer>> load(SamplingParams firstHow, List<SamplingParams> how) throws Exception {
        device.stepMillis = 1;
        List<List<Integer>> all = new ArrayList<>();
        List<Integer> heard = new ArrayList<>();
        try (LoadedModel model = engine.load(request().toBuilder()
                        .maxSequences(2)
                        .contextLength(40_000)
                        .maxBatchTokens(8)
                        .build());
                Session first = model.newSession();
                ExecutorService threads = Executors.newSingleThreadExecutor()) {
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch enough = new CountDownLatch(20);
            Future<Usage> usage = threads.submit(() ->
                    first.generate(sampled(firstHow, 39_000, 5, 6, 7), GenerationListener.ofTokens(token -> {
                        heard.add(token.id());
                        enough.countDown();
                        started.countDown();
                    })));
            Waiting.until(started, usage);
            for (int i = 0; i < how.size(); i++) {
                try (Session session = model.newSession()) {
                    all.add(generate(session, sampled(how.get(i), 5, prompt(90, 7 * i))));
                }
            }
            // The others may have run without it most of the time, on a machine that had no turn for its thread.
            assertTrue(enough.await(5, TimeUnit.MINUTES), "fewer than 20 tokens");
            first.cancel();
            assertEquals(FinishReason.CANCELLED, usage.get().finish(), "the first session ended before the others");
        }
        all.addFirst(heard.subList(0, 20));
        return all;
    }

    @Test
    void theFirstTokenIsChosenInTheStepOfThePrompt() {
        try (LoadedModel model =
                        engine.load(request().toBuilder().maxBatchTokens(4).build());
                Session session = model.newSession()) {
            int[] prompt = prompt(7, 1);
            assertEquals(FakeBackend.expected(prompt, VOCAB, 1), generate(session, greedy(1, prompt)));
            assertEquals(1, device.chosen.get());
            assertEquals(0, device.read.get(), "logits read");
            assertEquals(2, device.steps.get(), "steps");
            assertEquals(8, session.length());
            assertEquals(FakeBackend.expected(prompt, VOCAB, 4).subList(1, 4), generate(session, greedy(3)));
            assertEquals(0, device.read.get(), "logits read");
        }
    }

    @Test
    void aRunMayBeginAfterTheLastTokenOfAPrompt() {
        try (LoadedModel model =
                        engine.load(request().toBuilder().maxBatchTokens(3).build());
                Session session = model.newSession()) {
            List<String> heard = new ArrayList<>();
            int[] prompt = prompt(7, 1);
            session.generate(greedy(3, prompt), new GenerationListener() {
                @Override
                public void onText(String text) {}

                @Override
                public void onToken(GeneratedToken token) {
                    heard.add("token " + token.id());
                }

                @Override
                public void onPrefill(int done, int total) {
                    heard.add("prompt " + done + " of " + total);
                }
            });
            List<Integer> tokens = FakeBackend.expected(prompt, VOCAB, 3);
            assertEquals(
                    List.of(
                            "prompt 3 of 7",
                            "prompt 6 of 7",
                            "prompt 7 of 7",
                            "token " + tokens.get(0),
                            "token " + tokens.get(1),
                            "token " + tokens.get(2)),
                    heard.subList(0, 6));
            assertEquals(List.of(3), List.copyOf(device.runs));
        }
    }

    @Test
    void nobodyFallsBackToTheHostWhilePromptsCome() throws Exception {
        List<List<Integer>> all =
                load(SamplingParams.greedy(), List.of(SamplingParams.greedy(), params(1, 3, 1, 9), params(0, 0, 1, 0)));
        assertEquals(FakeBackend.expected(new int[] {5, 6, 7}, VOCAB, 20), all.get(0));
        assertEquals(FakeBackend.expected(prompt(90, 0), VOCAB, 5), all.get(1));
        assertEquals(FakeBackend.expected(prompt(90, 14), VOCAB, 5), all.get(3));
        assertEquals(0, device.read.get(), "logits read");
        assertTrue(device.mixed.get() > 0, "no mixed step");
    }

    @Test
    void theSameSeedGivesTheSameTextOnEitherSide() throws Exception {
        SamplingParams first = params(2, 40, 1, 77);
        List<SamplingParams> others = List.of(params(2, 5, 1, 1), params(1.5f, 100, 1, 2), params(1, 1, 1, 3));
        List<List<Integer>> byDevice = load(first, others);
        assertEquals(0, device.read.get(), "logits read");
        device.chooses = false;
        List<List<Integer>> byHost = load(first, others);
        assertTrue(device.read.get() > 0, "no logits read");
        assertEquals(byHost, byDevice);
    }

    @Test
    void aRowThatIsTheHostsGetsItsLogitsAmongRowsThatAreNot() throws Exception {
        List<SamplingParams> others = List.of(SamplingParams.greedy(), params(2, 40, 1, 5));
        List<List<Integer>> some = load(PENALISED, others);
        int chosen = device.chosen.get();
        assertTrue(chosen > 0, "nothing chosen by the device");
        assertTrue(device.read.get() > 0, "no logits read");
        device.chooses = false;
        assertEquals(load(PENALISED, others), some);
        assertEquals(chosen, device.chosen.get());
        device.chooses = true;
        List<SamplingParams> penalised = List.of(PENALISED, params(2, 0, 1, 5));
        some = load(SamplingParams.greedy(), penalised);
        device.chooses = false;
        assertEquals(load(SamplingParams.greedy(), penalised), some);
    }

    @Test
    void aStopInThePromptsStepEndsAsOnTheHost() {
        int[] prompt = prompt(6, 2);
        List<String> ends = new ArrayList<>();
        for (boolean chooses : new boolean[] {false, true}) {
            device.chooses = chooses;
            try (LoadedModel model = engine.load(request());
                    Session session = model.newSession()) {
                StringBuilder all = new StringBuilder();
                session.generate(greedy(1, prompt), all::append);
                session.truncate(0);
                StringBuilder text = new StringBuilder();
                Usage usage = session.generate(
                        GenerationRequest.builder()
                                .prompt(prompt)
                                .sampling(SamplingParams.greedy())
                                .maxNewTokens(6)
                                .stop(List.of(all.toString()))
                                .ignoreEndOfGeneration(true)
                                .build(),
                        text::append);
                int length = session.length();
                ends.add(usage.finish() + " " + usage.generatedTokens() + " " + length + " '" + text + "' "
                        + generate(session, greedy(3, 4)));
            }
        }
        assertTrue(ends.getFirst().startsWith("STOP 1 7 '' "), ends.getFirst());
        assertEquals(ends.getFirst(), ends.getLast());
    }

    @Test
    void whatWasChosenForACancelledCallIsForgotten() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            int[] prompt = prompt(6, 2);
            List<Integer> heard = new ArrayList<>();
            Usage usage = session.generate(greedy(5, prompt), new GenerationListener() {
                @Override
                public void onText(String text) {}

                @Override
                public void onToken(GeneratedToken token) {
                    heard.add(token.id());
                }

                @Override
                public void onPrefill(int done, int total) {
                    session.cancel();
                }
            });
            assertEquals(FinishReason.CANCELLED, usage.finish());
            assertEquals(List.of(), heard);
            assertEquals(6, session.length());
            int[] longer = prompt(7, 2);
            assertEquals(FakeBackend.expected(longer, VOCAB, 4), generate(session, greedy(4, longer[6])));
        }
    }

    @Test
    void whatWasChosenWhenAListenerThrowsIsForgotten() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            GenerationListener throwing = new GenerationListener() {
                @Override
                public void onText(String text) {}

                @Override
                public void onToken(GeneratedToken token) {}

                @Override
                public void onPrefill(int done, int total) {
                    throw new IllegalStateException("the consumer's own");
                }
            };
            assertThrows(IllegalStateException.class, () -> session.generate(greedy(5, prompt(6, 2)), throwing));
            assertEquals(6, session.length());
            int[] longer = prompt(7, 2);
            assertEquals(FakeBackend.expected(longer, VOCAB, 4), generate(session, greedy(4, longer[6])));
        }
    }

    @Test
    void aWithdrawnDeviceTakesNoTokenAlong() {
        FakeBackend other = new FakeBackend("other", 1);
        registry.add(other);
        SamplingParams how = params(2, 40, 1, 6);
        List<List<Integer>> texts = new ArrayList<>();
        for (boolean chooses : new boolean[] {false, true}) {
            device.chooses = chooses;
            other.chooses = chooses;
            List<Integer> text = new ArrayList<>();
            try (LoadedModel model = engine.load(
                            request().toBuilder().contextLength(2 * MANY).build());
                    Session session = model.newSession()) {
                session.generate(sampled(how, MANY, prompt(6, 3)), new GenerationListener() {
                    @Override
                    public void onText(String text) {}

                    @Override
                    public void onToken(GeneratedToken token) {
                        text.add(token.id());
                    }

                    @Override
                    public void onPrefill(int done, int total) {
                        // The first token has been chosen and not been heard of.
                        registry.remove(device);
                    }
                });
                assertEquals("other", model.backend());
                assertEquals(6 + MANY, session.length());
            }
            registry.add(device);
            texts.add(text);
        }
        assertEquals(texts.getFirst(), texts.getLast());
        assertEquals(1, other.chosen.get(), "the step that ran all tokens again");
    }

    @Test
    void aFailedStepLeavesNoTokenBehind() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            int[] prompt = prompt(6, 2);
            device.failing = true;
            assertThrows(RuntimeException.class, () -> generate(session, greedy(5, prompt)));
            device.failing = false;
            assertEquals(6, session.length());
            int[] longer = prompt(7, 2);
            assertEquals(FakeBackend.expected(longer, VOCAB, 4), generate(session, greedy(4, longer[6])));
        }
    }

    @Test
    void nothingIsSampledAfterAPromptThatNothingShallFollow() {
        try (LoadedModel model =
                        engine.load(request().toBuilder().contextLength(8).build());
                Session session = model.newSession()) {
            Usage usage = session.generate(greedy(0, prompt(6, 2)), text -> {});
            assertEquals(0, usage.generatedTokens());
            assertEquals(6, session.length());
            assertEquals(0, device.chosen.get());
        }
    }
}
