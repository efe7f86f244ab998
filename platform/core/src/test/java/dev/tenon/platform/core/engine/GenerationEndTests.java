package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.MANY;
import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How generations end before they have all they wanted: cancelled, closed, interrupted, failed.
@Timeout(600)
class GenerationEndTests extends GenerationFixture {
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cancellingInTheMiddleOfAPromptRunsNoMoreOfIt(boolean deviceSamples) throws Exception {
        device.chooses = deviceSamples;
        int[] prompt = new int[90];
        try (LoadedModel model =
                        engine.load(request().toBuilder().maxBatchTokens(3).build());
                Session session = model.newSession()) {
            device.onStep = () -> {
                if (device.steps.get() == 2) {
                    session.cancel();
                }
            };
            Generation generation = session.submit(greedy(5, prompt));
            Usage usage = result(generation);
            assertEquals(FinishReason.CANCELLED, usage.finish());
            assertEquals(0, usage.generatedTokens());
            assertEquals(2, device.steps.get(), "steps of 30");
            // The session goes on with the rest of its prompt.
            assertEquals(FakeBackend.expected(prompt, VOCAB, 3), generate(session, greedy(3)));
        }
    }

    @Test
    void cancellingKeepsWhatWasDelivered() throws Exception {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            Generation generation = session.submit(greedy(3 * MANY, PROMPT));
            Events events = new Events(10);
            generation.subscribe(events);
            while (events.all.size() < 10) {
                Thread.onSpinWait();
            }
            events.subscription.get().cancel();
            Usage usage = result(generation);
            assertEquals(FinishReason.CANCELLED, usage.finish());
            List<Integer> tokens = events.tokens();
            assertEquals(tokens.size(), usage.generatedTokens());
            assertEquals(PROMPT.length + tokens.size(), session.length());
            List<Integer> all = new ArrayList<>(tokens);
            all.addAll(generate(session, greedy(5)));
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, all.size()), all);
        }
    }

    /// A stop text that has begun does not go on after a control token, which parts what is before and after it.
    @Test
    void textBeforeAControlTokenComesBeforeIt() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            Tokenizer tokenizer = model.tokenizer();
            int control = IntStream.range(0, VOCAB)
                    .filter(id -> tokenizer.isControl(id)
                            && tokenizer.decode(new int[] {half(id)}).length() == 1)
                    .findFirst()
                    .orElseThrow();
            int before = half(control);
            String text = tokenizer.decode(new int[] {before});
            List<String> heard = new ArrayList<>();
            GenerationRequest request = GenerationRequest.builder()
                    .prompt(before / 2, before - before / 2)
                    .sampling(SamplingParams.greedy())
                    .maxNewTokens(3)
                    .ignoreEndOfGeneration(true)
                    .stop(List.of(text + "+"))
                    .build();
            Usage usage = session.generate(request, new GenerationListener() {
                @Override
                public void onToken(GeneratedToken token) {
                    heard.add(Integer.toString(token.id()));
                }

                @Override
                public void onText(String part) {
                    heard.add("text " + part);
                }
            });
            assertEquals(FinishReason.LENGTH, usage.finish());
            assertEquals(
                    List.of(Integer.toString(before), "text " + text, Integer.toString(control)), heard.subList(0, 3));
        }
    }

    /// {@return the token after which a token follows, since each is the sum of those before}
    private static int half(int next) {
        return next * ((VOCAB + 1) / 2) % VOCAB;
    }

    @Test
    void aFailedStepEndsTheStream() {
        device.failing = true;
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            Generation generation = session.submit(greedy(5, PROMPT));
            Events events = new Events(Long.MAX_VALUE);
            generation.subscribe(events);
            ExecutionException e = assertThrows(ExecutionException.class, events.end::get);
            assertInstanceOf(BackendException.class, e.getCause());
            assertThrows(ExecutionException.class, () -> result(generation));
            device.failing = false;
            session.truncate(0);
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, 3), generate(session, greedy(3, PROMPT)));
        }
    }

    @Test
    void anErrorOfAListenerEndsItsGenerationBeforeItIsThrown() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            List<Integer> tokens = new ArrayList<>();
            AssertionError thrown = assertThrows(
                    AssertionError.class,
                    () -> session.generate(greedy(MANY, PROMPT), GenerationListener.ofTokens(token -> {
                        tokens.add(token.id());
                        while (device.steps.get() < 20) {
                            Thread.onSpinWait(); // the generation is ahead of its listener
                        }
                        throw new AssertionError("the consumer's own");
                    })));
            assertEquals("the consumer's own", thrown.getMessage());
            assertEquals(PROMPT.length + 1, session.length());
            tokens.addAll(generate(session, greedy(5)));
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, 6), tokens);
        }
    }

    @Test
    void aBusySessionRefusesASecondGeneration() throws Exception {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            Generation generation = session.submit(greedy(3 * MANY, PROMPT));
            generation.subscribe(new Events(0)); // pauses it
            TenonException e = assertThrows(TenonException.class, () -> session.submit(greedy(1, PROMPT)));
            assertEquals(ErrorCode.BUSY, e.code());
            generation.cancel();
            assertEquals(FinishReason.CANCELLED, result(generation).finish());
            e = assertThrows(
                    TenonException.class,
                    () -> session.generate(
                            greedy(5, PROMPT), GenerationListener.ofTokens(token -> session.truncate(0))));
            assertEquals(ErrorCode.BUSY, e.code());
        }
    }

    @Test
    void interruptingTheCallerCancels() throws Exception {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            CountDownLatch started = new CountDownLatch(1);
            CompletableFuture<Usage> usage = new CompletableFuture<>();
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            device.stepMillis = 1;
            Thread caller = Thread.ofPlatform().start(() -> {
                usage.complete(session.generate(
                        greedy(3 * MANY, PROMPT), GenerationListener.ofTokens(token -> started.countDown())));
                interrupted.complete(Thread.currentThread().isInterrupted());
            });
            Waiting.await(started);
            caller.interrupt();
            assertEquals(FinishReason.CANCELLED, usage.get().finish());
            assertTrue(interrupted.get(), "the thread has lost its interruption");
        }
    }

    /// The call has begun, but has no generation yet that could be cancelled.
    @Test
    void cancellingAGenerationThatIsAboutToRunEndsIt() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            onBegin = session::cancel;
            Usage usage = session.generate(greedy(MANY, PROMPT), text -> {});
            assertEquals(FinishReason.CANCELLED, usage.finish());
            assertEquals(0, usage.generatedTokens());
            onBegin = () -> {};
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, 3), generate(session, greedy(3)));
        }
    }

    @Test
    void cancellingWhileNothingRunsDoesNothing() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            session.cancel();
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, 3), generate(session, greedy(3, PROMPT)));
        }
    }

    @Test
    void closingEndsAGenerationThatIsAboutToRun() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        onBegin = () -> {
            begun.countDown();
            Waiting.await(goOn);
        };
        try (LoadedModel model = model(1);
                Session session = model.newSession();
                var threads = Executors.newSingleThreadExecutor()) {
            Future<Usage> usage = threads.submit(() -> session.generate(greedy(MANY, PROMPT), text -> {}));
            Waiting.until(begun, usage);
            Thread closing = Thread.ofPlatform().start(session::close);
            while (closing.getState() != Thread.State.WAITING) { // for the call to end
                Thread.onSpinWait();
            }
            goOn.countDown();
            assertEquals(FinishReason.CANCELLED, usage.get().finish());
            closing.join();
        }
    }

    @Test
    void closingTheModelEndsItsGenerationsAndItsThread() throws Exception {
        LoadedModel model = model(1);
        Session session = model.newSession();
        Generation generation = session.submit(greedy(3 * MANY, PROMPT));
        generation.subscribe(new Events(0));
        model.close();
        assertEquals(FinishReason.CANCELLED, result(generation).finish());
        assertThrows(TenonException.class, () -> session.submit(greedy(1, PROMPT)));
        assertEquals(0, device.open.get());
    }
}
