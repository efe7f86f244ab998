package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.MANY;
import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Interrupting a thread ends its call after the running step, and the thread stays interrupted.
@Timeout(600)
class InterruptionTests extends GenerationFixture {
    private static final int[] LONG_PROMPT = new int[90];

    /// Runs a call on a thread of its own, which has to be interrupted at its end.
    private static <T> FutureTask<T> call(boolean virtual, Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(() -> {
            try {
                return call.call();
            } finally {
                assertTrue(Thread.currentThread().isInterrupted(), "the thread has lost its interruption");
            }
        });
        Thread thread = virtual ? Thread.ofVirtual().unstarted(task) : new Thread(task);
        thread.start();
        return task;
    }

    private static void assertInterrupted(FutureTask<?> task) {
        ExecutionException e = assertThrows(ExecutionException.class, task::get);
        assertEquals(
                TenonException.class,
                e.getCause().getClass(),
                () -> e.getCause().toString());
        assertEquals(ErrorCode.INTERRUPTED, ((TenonException) e.getCause()).code());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aGenerationIsCancelled(boolean virtual) throws Exception {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            FutureTask<Usage> usage = call(
                    virtual,
                    () -> session.generate(
                            greedy(3 * MANY, PROMPT),
                            GenerationListener.ofTokens(
                                    token -> Thread.currentThread().interrupt())));
            assertEquals(FinishReason.CANCELLED, usage.get().finish());
            assertEquals(1, usage.get().generatedTokens());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aGenerationOfAThreadThatIsInterruptedAlreadyIsCancelled(boolean virtual) throws Exception {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            FutureTask<Usage> usage = call(virtual, () -> {
                Thread.currentThread().interrupt();
                return session.generate(greedy(3 * MANY, PROMPT), text -> {});
            });
            assertEquals(FinishReason.CANCELLED, usage.get().finish());
            assertEquals(0, usage.get().generatedTokens());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallThatWaitsForAnotherOfItsSessionEnds(boolean virtual) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        onBegin = () -> {
            begun.countDown();
            Waiting.await(goOn);
        };
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            FutureTask<Usage> first = new FutureTask<>(() -> session.generate(greedy(3, PROMPT), text -> {}));
            Thread.startVirtualThread(first);
            Waiting.until(begun, first);
            FutureTask<Usage> second = call(virtual, () -> {
                Thread.currentThread().interrupt();
                return session.generate(greedy(3, PROMPT), text -> {});
            });
            assertInterrupted(second);
            goOn.countDown();
            assertEquals(3, first.get().generatedTokens());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anEvaluationEndsAfterItsStepAndLeavesTheSessionAsItWas(boolean virtual) throws Exception {
        try (LoadedModel model =
                        engine.load(request().toBuilder().maxBatchTokens(3).build());
                Session session = model.newSession()) {
            session.evaluate(PROMPT, Rows.NONE, (index, row) -> {});
            int before = device.steps.get();
            FutureTask<Void> evaluation = call(virtual, () -> {
                Thread caller = Thread.currentThread();
                device.onStep = () -> {
                    if (device.steps.get() == before + 2) {
                        caller.interrupt();
                    }
                };
                session.evaluate(LONG_PROMPT, Rows.ALL, (index, row) -> {});
                return null;
            });
            assertInterrupted(evaluation);
            assertEquals(2, device.steps.get() - before, "steps of 30");
            assertEquals(PROMPT.length, session.length());
            device.onStep = () -> {};
            session.truncate(PROMPT.length - 1);
            assertEquals(
                    FakeBackend.expected(PROMPT, VOCAB, 3), generate(session, greedy(3, PROMPT[PROMPT.length - 1])));
        }
    }

    /// A call that came while another session's change was waiting has woken nobody, and the change is followed by no
    /// call.
    @Test
    void anEvaluationGoesOnAfterTheChangeThatHeldItUp() throws Exception {
        CountDownLatch changeWaits = new CountDownLatch(1);
        try (LoadedModel model =
                        engine.load(request().toBuilder().maxSequences(3).build());
                Session driving = model.newSession();
                Session waiting = model.newSession();
                Session changing = model.newSession()) {
            FutureTask<Void> second = new FutureTask<>(() -> waiting.evaluate(PROMPT, Rows.NONE, (i, row) -> {}), null);
            Thread change = new Thread(() -> changing.truncate(0));
            Thread third = new Thread(second);
            device.onStep = () -> {
                device.onStep = () -> {};
                third.start();
                awaitParked(third);
                change.start();
                awaitParked(change);
                changeWaits.countDown();
            };
            driving.evaluate(PROMPT, Rows.NONE, (i, row) -> {});
            assertEquals(0, changeWaits.getCount(), "the change came in the middle of the step");
            second.get(60, TimeUnit.SECONDS);
            change.join();
            assertEquals(PROMPT.length, waiting.length());
        }
    }

    private static void awaitParked(Thread thread) {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void embeddingEndsAfterTheRunningStepAndReleasesItsSequences(boolean virtual) throws Exception {
        int sequences = 3;
        int[] text = new int[4 * MANY];
        try (LoadedModel model = engine.load(request().toBuilder()
                .outputs(Graph.HIDDEN)
                .maxSequences(sequences)
                .maxBatchTokens(sequences)
                .contextLength(text.length)
                .build())) {
            device.stepMillis = 1;
            FutureTask<Integer> embedding = call(virtual, () -> {
                Thread caller = Thread.currentThread();
                device.onStep = () -> {
                    if (device.steps.get() == 2) {
                        caller.interrupt();
                    }
                };
                return model.embed(EmbeddingRequest.builder()
                                .text(text)
                                .text(text)
                                .text(text)
                                .build())
                        .size();
            });
            assertInterrupted(embedding);
            assertTrue(device.steps.get() < text.length, device.steps + " steps");
            for (int i = 0; i < sequences; i++) {
                model.newSession();
            }
        }
    }

    @Test
    void truncatingAndClosingIgnoreTheInterruption() {
        try (LoadedModel model = model(1)) {
            Session session = model.newSession();
            session.evaluate(PROMPT, Rows.NONE, (index, row) -> {});
            Thread.currentThread().interrupt();
            session.truncate(1);
            assertEquals(1, session.length());
            session.close();
            assertTrue(Thread.interrupted());
        }
    }
}
