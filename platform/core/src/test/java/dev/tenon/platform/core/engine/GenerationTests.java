package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.MANY;
import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationEvent;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.SamplingParams;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Generations as streams of events, what the host does between logits and token, and who waits for
/// whom.
@Timeout(600)
class GenerationTests extends GenerationFixture {
    @Test
    void aSubscriberGetsWhatAListenerHears() throws Exception {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            StringBuilder text = new StringBuilder();
            session.generate(greedy(20, PROMPT), text::append);
            session.truncate(0);
            Generation generation = session.submit(greedy(20, PROMPT));
            Events events = new Events(Long.MAX_VALUE);
            generation.subscribe(events);
            events.end.get();
            assertEquals(20, result(generation).generatedTokens());
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, 20), events.tokens());
            assertInstanceOf(GenerationEvent.Prefill.class, events.all.getFirst());
            StringBuilder streamed = new StringBuilder();
            events.all.forEach(event -> event.tell(streamed::append));
            assertEquals(text.toString(), streamed.toString());
            assertEquals(23, session.length());
        }
    }

    @Test
    void withoutASubscriberAGenerationRunsToItsEndAndKeepsItsEvents() throws Exception {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            Generation generation = session.submit(greedy(MANY, PROMPT));
            assertEquals(MANY, result(generation).generatedTokens());
            Events events = new Events(Long.MAX_VALUE);
            generation.subscribe(events);
            events.end.get();
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, MANY), events.tokens());
        }
    }

    @Test
    void aSubscriberThatAsksForNothingPausesItsOwnGenerationOnly() throws Exception {
        try (LoadedModel model = model(2);
                Session idle = model.newSession();
                Session busy = model.newSession()) {
            Generation generation = idle.submit(greedy(3 * MANY, PROMPT));
            Events events = new Events(0);
            generation.subscribe(events);
            Flow.Subscription subscription = events.subscription.get();
            for (int round = 0; round < 3; round++) {
                assertEquals(FakeBackend.expected(PROMPT, VOCAB, 400), generate(busy, greedy(400, PROMPT)));
                busy.truncate(0);
            }
            assertFalse(generation.result().toCompletableFuture().isDone());
            assertTrue(idle.length() < 3 * MANY, "it ran to its end, " + idle.length() + " tokens");
            assertEquals(List.of(), events.all);
            subscription.request(Long.MAX_VALUE);
            events.end.get();
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, 3 * MANY), events.tokens());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aListenerThatBlocksHoldsUpNobodyElse(boolean deviceSamples) throws Exception {
        device.chooses = deviceSamples;
        try (LoadedModel model = model(2);
                Session blocked = model.newSession();
                Session quick = model.newSession();
                var threads = Executors.newSingleThreadExecutor()) {
            CountDownLatch heard = new CountDownLatch(1);
            CountDownLatch served = new CountDownLatch(1);
            List<Integer> tokens = new ArrayList<>();
            Future<Usage> usage =
                    threads.submit(() -> blocked.generate(greedy(MANY, PROMPT), GenerationListener.ofTokens(token -> {
                        tokens.add(token.id());
                        heard.countDown();
                        Waiting.await(served);
                    })));
            Waiting.until(heard, usage);
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, MANY), generate(quick, greedy(MANY, PROMPT)));
            assertEquals(1, tokens.size());
            served.countDown();
            assertEquals(MANY, usage.get().generatedTokens());
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, MANY), tokens);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void subscribersThatBlockHoldUpNobodyElse(boolean deviceSamples) throws Exception {
        device.chooses = deviceSamples;
        int blocked = Runtime.getRuntime().availableProcessors() + 1;
        CountDownLatch blocking = new CountDownLatch(blocked);
        CountDownLatch served = new CountDownLatch(1);
        try (LoadedModel model = model(blocked + 1)) {
            List<Events> all = new ArrayList<>();
            for (int i = 0; i < blocked; i++) {
                Events events = new Events(Long.MAX_VALUE) {
                    @Override
                    public void onNext(GenerationEvent event) {
                        blocking.countDown();
                        Waiting.await(served);
                        super.onNext(event);
                    }
                };
                model.newSession().submit(greedy(MANY, PROMPT)).subscribe(events);
                all.add(events);
            }
            Waiting.await(blocking);
            Events quick = new Events(Long.MAX_VALUE);
            model.newSession().submit(greedy(MANY, PROMPT)).subscribe(quick);
            quick.end.get();
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, MANY), quick.tokens());
            served.countDown();
            for (Events events : all) {
                events.end.get();
                assertEquals(FakeBackend.expected(PROMPT, VOCAB, MANY), events.tokens());
            }
        } finally {
            served.countDown();
        }
    }

    @Test
    void manyGenerationsNeedNoThreadEach() throws Exception {
        int sessions = 500;
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        try (LoadedModel model = engine.load(
                request().toBuilder().maxSequences(sessions).contextLength(64).build())) {
            Set<String> names = ConcurrentHashMap.newKeySet();
            device.onStep = () -> names.add(Thread.currentThread().getName());
            int before = threads.getThreadCount();
            threads.resetPeakThreadCount();
            List<Events> all = new ArrayList<>();
            for (int i = 0; i < sessions; i++) {
                Events events = new Events(Long.MAX_VALUE);
                model.newSession().submit(greedy(20, i % VOCAB)).subscribe(events);
                all.add(events);
            }
            for (int i = 0; i < sessions; i++) {
                all.get(i).end.get();
                assertEquals(
                        FakeBackend.expected(new int[] {i % VOCAB}, VOCAB, 20),
                        all.get(i).tokens());
            }
            assertEquals(Set.of("tenon-steps"), names, "threads that run steps");
            // The loop's thread, and the virtual machine's own for virtual threads and compilation.
            int most = before + 16 + Runtime.getRuntime().availableProcessors();
            assertTrue(threads.getPeakThreadCount() <= most, threads.getPeakThreadCount() + " threads");
        }
    }

    @Test
    void aProcessorSeesTheHistoryAndMasks() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            List<Integer> lengths = new ArrayList<>();
            GenerationRequest request = GenerationRequest.builder()
                    .prompt(PROMPT)
                    .sampling(SamplingParams.greedy())
                    .maxNewTokens(3)
                    .ignoreEndOfGeneration(true)
                    .processors(List.of((history, logits) -> {
                        lengths.add(history.length());
                        int after = (history.token(history.length() - 1) + 1) % VOCAB;
                        Arrays.fill(logits, Float.NEGATIVE_INFINITY);
                        logits[after] = 0;
                    }))
                    .build();
            assertEquals(List.of(8, 9, 10), generate(session, request));
            assertEquals(List.of(3, 4, 5), lengths);
        }
    }

    @Test
    void logProbabilitiesAreThoseOfTheModel() {
        device.chooses = true; // the device could sample, but sends no probabilities
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            List<GeneratedToken> tokens = new ArrayList<>();
            GenerationRequest request = GenerationRequest.builder()
                    .prompt(PROMPT)
                    .sampling(SamplingParams.greedy())
                    .maxNewTokens(4)
                    .ignoreEndOfGeneration(true)
                    .logProbabilities(2)
                    .build();
            session.generate(request, GenerationListener.ofTokens(tokens::add));
            // One logit is 1, the others are -1.
            double best = 1 - Math.log(Math.exp(1) + (VOCAB - 1) * Math.exp(-1));
            for (GeneratedToken token : tokens) {
                assertEquals(best, token.logProbability(), 1e-6);
                assertEquals(2, token.top().size());
                assertEquals(token.id(), token.top().getFirst().id());
                assertEquals(best - 2, token.top().getLast().logProbability(), 1e-6);
            }
            assertEquals(
                    FakeBackend.expected(PROMPT, VOCAB, 4),
                    tokens.stream().map(GeneratedToken::id).toList());
        }
    }

    /// A wake-up that gets lost anywhere is a test that does not end.
    @Test
    void noWakeUpIsLostWhenSessionsComeAndGo() throws Exception {
        int sessions = 6;
        try (LoadedModel model = model(sessions);
                var threads = Executors.newFixedThreadPool(sessions)) {
            List<Future<Void>> results = new ArrayList<>();
            for (int s = 0; s < sessions; s++) {
                Random random = new Random(s);
                results.add(threads.submit(() -> {
                    for (int round = 0; round < 40; round++) {
                        try (Session session = model.newSession()) {
                            int[] prompt = {random.nextInt(VOCAB), random.nextInt(VOCAB)};
                            int count = 1 + random.nextInt(20);
                            List<Integer> expected = FakeBackend.expected(prompt, VOCAB, count);
                            switch (random.nextInt(3)) {
                                case 0 -> assertEquals(expected, generate(session, greedy(count, prompt)));
                                case 1 ->
                                    assertEquals(
                                            count,
                                            result(session.submit(greedy(count, prompt)))
                                                    .generatedTokens());
                                default -> {
                                    int[] best = new int[1];
                                    session.evaluate(prompt, Rows.LAST, (i, row) -> best[0] = best(row));
                                    for (int i = 0; i < count; i++) {
                                        assertEquals(expected.get(i), best[0]);
                                        session.evaluate(
                                                new int[] {best[0]}, Rows.LAST, (n, row) -> best[0] = best(row));
                                    }
                                }
                            }
                        }
                    }
                    return null;
                }));
            }
            for (Future<Void> result : results) {
                result.get();
            }
        }
    }

    private static int best(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            best = logits[i] > logits[best] ? i : best;
        }
        return best;
    }

    @Test
    void evaluationsInParallelShareSteps() throws Exception {
        device.stepMillis = 2;
        int sessions = 4;
        int rounds = 30;
        try (LoadedModel model = model(sessions);
                var threads = Executors.newFixedThreadPool(sessions)) {
            List<Future<Void>> results = new ArrayList<>();
            for (int s = 0; s < sessions; s++) {
                results.add(threads.submit(() -> {
                    try (Session session = model.newSession()) {
                        for (int i = 0; i < rounds; i++) {
                            session.evaluate(new int[] {i}, Rows.LAST, (n, row) -> {});
                        }
                    }
                    return null;
                }));
            }
            for (Future<Void> result : results) {
                result.get();
            }
            assertTrue(device.steps.get() < sessions * rounds, device.steps + " steps");
        }
    }
}
