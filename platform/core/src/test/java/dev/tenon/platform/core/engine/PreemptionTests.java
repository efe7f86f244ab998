package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.control.SchedulingStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Sessions that together need more pages than there are: four of them share the memory of one context.
class PreemptionTests extends GenerationFixture {
    private static final int CONTEXT = 1024;
    private static final int SESSIONS = 4;

    private LoadedModel shared() {
        return engine.load(
                request().toBuilder().contextLength(CONTEXT).maxBatchTokens(100).build());
    }

    private static int[] prompt(int length, int first) {
        return IntStream.range(first, first + length).map(i -> i % VOCAB).toArray();
    }

    private static GenerationRequest ranked(int priority, int max, int... prompt) {
        return GenerationRequest.builder()
                .prompt(prompt)
                .sampling(SamplingParams.greedy())
                .maxNewTokens(max)
                .ignoreEndOfGeneration(true)
                .priority(priority)
                .build();
    }

    private int tokensRun() {
        synchronized (device.batchSizes) {
            return device.batchSizes.stream().mapToInt(Integer::intValue).sum();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"by host", "by device", "with states"})
    void generationsThatDoNotFitTogetherAllEndWithTheirTexts(String kind) throws Exception {
        device.chooses = kind.equals("by device");
        device.states = kind.equals("with states");
        int length = 600;
        int reply = 300;
        try (LoadedModel model = shared();
                ExecutorService threads = Executors.newFixedThreadPool(SESSIONS)) {
            CountDownLatch begun = new CountDownLatch(SESSIONS);
            // The first step takes place when all have come.
            device.onStep = () -> Waiting.await(begun);
            onBegin = begun::countDown;
            List<Future<List<Integer>>> texts = new ArrayList<>();
            for (int s = 0; s < SESSIONS; s++) {
                Session session = model.newSession();
                int[] prompt = prompt(length, s);
                texts.add(threads.submit(() -> generate(session, greedy(reply, prompt))));
            }
            for (int s = 0; s < SESSIONS; s++) {
                assertEquals(
                        FakeBackend.expected(prompt(length, s), VOCAB, reply),
                        texts.get(s).get());
            }
        }
    }

    @Test
    void generationsThatOutgrowTheMemoryRunTheirTokensAgain() throws Exception {
        // The first one to end has 900 tokens, and the others each 300 and the 128 that wait for their readers.
        int length = 300;
        int reply = 600;
        try (LoadedModel model = shared();
                ExecutorService threads = Executors.newFixedThreadPool(SESSIONS)) {
            CountDownLatch begun = new CountDownLatch(SESSIONS);
            device.onStep = () -> Waiting.await(begun);
            onBegin = begun::countDown;
            List<Future<List<Integer>>> texts = new ArrayList<>();
            for (int s = 0; s < SESSIONS; s++) {
                Session session = model.newSession();
                int[] prompt = prompt(length, s);
                texts.add(threads.submit(() -> generate(session, greedy(reply, prompt))));
            }
            for (int s = 0; s < SESSIONS; s++) {
                assertEquals(
                        FakeBackend.expected(prompt(length, s), VOCAB, reply),
                        texts.get(s).get());
            }
            SchedulingStatus status = ((ScheduledModel) model).scheduling();
            assertTrue(status.preemptions() > 0, status + "");
            assertTrue(tokensRun() > SESSIONS * (length + reply), tokensRun() + " tokens");
        }
    }

    /// The steps wait for the end of the urgent one to be told before the other one can end. The limit on time ends a
    /// hang: where that one has to go first.
    @Test
    @Timeout(60)
    void aRequestOfHigherPriorityTakesThePagesOfOneThatRuns() throws Exception {
        int[] prompt = prompt(980, 3);
        int[] urgent = prompt(980, 50);
        int reply = 40;
        int most = 70; // the urgent one needs 50 steps; the other one, which waits for its pages, 40 after them
        try (LoadedModel model = shared();
                Session first = model.newSession();
                Session second = model.newSession()) {
            CountDownLatch submitted = new CountDownLatch(1);
            CountDownLatch ended = new CountDownLatch(1);
            device.onStep = () -> {
                if (device.steps.get() > 1) {
                    Waiting.await(submitted);
                }
                if (device.steps.get() > most) {
                    Waiting.await(ended);
                }
            };
            Events slow = new Events(Long.MAX_VALUE);
            Generation low = first.submit(ranked(-1, reply, prompt));
            low.subscribe(slow);
            Events fast = new Events(Long.MAX_VALUE);
            Generation high = second.submit(ranked(7, reply, urgent));
            high.subscribe(fast);
            submitted.countDown();
            fast.end.get();
            assertFalse(slow.end.isDone());
            ended.countDown();
            slow.end.get();
            assertEquals(FakeBackend.expected(urgent, VOCAB, reply), fast.tokens());
            assertEquals(FakeBackend.expected(prompt, VOCAB, reply), slow.tokens());
        }
    }

    @Test
    void aSessionWhoseConsumerIsSlowKeepsNoOthersWaiting() throws Exception {
        int[] prompt = prompt(600, 3);
        int reply = 400;
        try (LoadedModel model = shared();
                Session first = model.newSession();
                Session second = model.newSession()) {
            Events slow = new Events(1);
            Generation paused = first.submit(ranked(0, reply, prompt));
            paused.subscribe(slow);
            int[] other = prompt(900, 9);
            assertEquals(FakeBackend.expected(other, VOCAB, 100), generate(second, greedy(100, other)));
            slow.subscription.get().request(Long.MAX_VALUE);
            slow.end.get();
            assertEquals(FakeBackend.expected(prompt, VOCAB, reply), slow.tokens());
        }
    }

    @Test
    void evaluationsThatDoNotFitTogetherGiveEachRowOnce() throws Exception {
        int length = 700;
        try (LoadedModel model = shared();
                ExecutorService threads = Executors.newFixedThreadPool(SESSIONS)) {
            List<Future<List<Integer>>> all = new ArrayList<>();
            for (int s = 0; s < SESSIONS; s++) {
                Session session = model.newSession();
                int[] tokens = prompt(length, s);
                all.add(threads.submit(() -> {
                    List<Integer> rows = new ArrayList<>();
                    session.evaluate(tokens, Rows.ALL, (index, logits) -> {
                        int best = 0;
                        while (logits[best] < 1) {
                            best++;
                        }
                        rows.add(index);
                        rows.add(best);
                    });
                    return rows;
                }));
            }
            for (int s = 0; s < SESSIONS; s++) {
                List<Integer> expected = new ArrayList<>();
                int sum = 0;
                for (int i = 0; i < length; i++) {
                    sum += prompt(length, s)[i];
                    expected.add(i);
                    expected.add(sum % VOCAB);
                }
                assertEquals(expected, all.get(s).get());
            }
        }
    }

    @Test
    void aGenerationThatWaitsForPagesCanBeCancelled() throws Exception {
        try (LoadedModel model = shared();
                Session first = model.newSession();
                Session second = model.newSession();
                ExecutorService threads = Executors.newFixedThreadPool(1)) {
            CountDownLatch consumed = new CountDownLatch(1);
            CountDownLatch inRow = new CountDownLatch(1);
            // An evaluation between two of its steps, whose pages nobody of the same rank takes.
            Future<?> evaluation =
                    threads.submit(() -> first.evaluate(prompt(CONTEXT, 1), Rows.ALL, (index, logits) -> {
                        if (index == 0) {
                            inRow.countDown();
                            Waiting.await(consumed);
                        }
                    }));
            try {
                Waiting.until(inRow, evaluation);
                Generation waiting = second.submit(ranked(0, 10, prompt(500, 2)));
                waiting.cancel();
                assertEquals(0, result(waiting).generatedTokens());
            } finally {
                consumed.countDown(); // the evaluation ends, whatever went wrong
            }
            evaluation.get();
        }
    }
}
