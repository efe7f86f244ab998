package dev.tenon.platform.server.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.server.queue.QueueFullException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Models that share memory for one of them. The limit on time ends a hang.
@Timeout(120)
class ModelHostTests {
    private static final Path MODEL = Path.of("../launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");

    private final Engine engine = StandaloneEngine.create(Map.of());
    private ModelHost host;
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void close() throws InterruptedException {
        host.close();
        for (Thread thread : threads) {
            thread.join();
        }
        engine.close();
    }

    private static LoadRequest request() {
        return LoadRequest.builder(MODEL).threads(1).contextLength(64).build();
    }

    /// @param queue requests of a model that may wait
    private void begin(int queue) throws InterruptedException {
        long bytes;
        try (ModelHost free = host(engine, queue, 0)) {
            free.find("one").orElseThrow().lease().close();
            bytes = free.find("one").orElseThrow().memoryBytes();
        }
        host = host(engine, queue, bytes);
    }

    private static ModelHost host(Engine engine, int queue, long bytes) {
        List<ModelSpec> models = Stream.of("one", "two", "three")
                .map(name -> ModelSpec.of(name, request()))
                .toList();
        return new ModelHost(
                engine,
                new ModelLimits(1, 0, queue, bytes, Duration.ofHours(1), false),
                List.of(),
                () -> models,
                List.of());
    }

    private ServedModel model(String name) {
        return host.find(name).orElseThrow();
    }

    /// Asks for a model on a thread of its own, and waits until it waits.
    private FutureTask<ServedModel.Lease> ask(String name) {
        int before = model(name).admission().queued();
        FutureTask<ServedModel.Lease> asked = new FutureTask<>(() -> model(name).lease());
        threads.add(Thread.ofVirtual().start(asked));
        while (model(name).admission().queued() == before && !asked.isDone()) {
            Thread.onSpinWait();
        }
        return asked;
    }

    @Test
    void aModelWaitsUntilTheOneThatAnswersMayLeaveAndThatOneWaitsForItsTurn() throws Exception {
        begin(8);
        ServedModel.Lease first = model("one").lease();
        ServedModel.Lease second = model("one").lease();
        FutureTask<ServedModel.Lease> two = ask("two");
        while (model("one").loaded().isPresent() && !((HostedModel) model("one")).yielding()) {
            Thread.onSpinWait();
        }
        FutureTask<ServedModel.Lease> again = ask("one");
        first.close();
        assertFalse(two.isDone(), "one still answers");
        assertFalse(again.isDone(), "the other one was first");
        assertTrue(model("one").loaded().isPresent());
        second.close();
        try (ServedModel.Lease lease = two.get()) {
            assertTrue(model("one").loaded().isEmpty());
            assertFalse(again.isDone());
            assertEquals(MODEL, lease.model().file().path());
        }
        again.get().close();
        assertTrue(model("two").loaded().isEmpty());
        assertEquals(
                0, model("one").admission().queued() + model("two").admission().queued());
        assertEquals(1, engine.models().size());
    }

    @Test
    void whoGivesUpLetsTheOtherOneGoOn() throws Exception {
        begin(8);
        ServedModel.Lease lease = model("one").lease();
        FutureTask<ServedModel.Lease> two = ask("two");
        FutureTask<ServedModel.Lease> three = ask("three");
        threads.forEach(Thread::interrupt);
        assertInstanceOf(
                InterruptedException.class,
                assertThrows(ExecutionException.class, two::get).getCause());
        assertInstanceOf(
                InterruptedException.class,
                assertThrows(ExecutionException.class, three::get).getCause());
        for (Thread thread : threads) {
            thread.join();
        }
        ServedModel.Lease other = model("one").lease();
        lease.close();
        other.close();
        assertTrue(model("one").loaded().isPresent());
        assertEquals(0, model("two").admission().queued());
    }

    @Test
    void noMoreWaitThanTheQueueHoldsAndTheEndOfTheServerEndsTheirWait() throws Exception {
        begin(1);
        ServedModel.Lease lease = model("one").lease();
        FutureTask<ServedModel.Lease> place = ask("two");
        FutureTask<ServedModel.Lease> queue = ask("two");
        assertThrows(QueueFullException.class, () -> model("two").lease());
        host.close();
        assertClosed(place);
        assertClosed(queue);
        lease.close();
    }

    /// The end comes while a model is read for a request that has waited: memory that the end frees is no place.
    @Test
    void aModelThatIsLoadedWhileTheServerEndsIsClosedAndNobodyGetsIt() throws Exception {
        CountDownLatch loading = new CountDownLatch(1);
        CountDownLatch ending = new CountDownLatch(1);
        Engine slow = (Engine) Proxy.newProxyInstance(
                Engine.class.getClassLoader(), new Class<?>[] {Engine.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("load")) {
                        loading.countDown();
                        ending.await();
                    }
                    return method.invoke(engine, arguments);
                });
        host = host(slow, 8, 0);
        FutureTask<ServedModel.Lease> asked = ask("one");
        loading.await();
        Thread end = Thread.ofVirtual().start(host::close);
        threads.add(end);
        while (!host.ended()) {
            Thread.onSpinWait();
        }
        ending.countDown();
        assertClosed(asked);
        end.join();
        assertTrue(engine.models().isEmpty());
    }

    private static void assertClosed(FutureTask<ServedModel.Lease> asked) {
        TenonException ended = assertInstanceOf(
                TenonException.class,
                assertThrows(ExecutionException.class, asked::get).getCause());
        assertEquals(ErrorCode.CLOSED, ended.code());
    }

    @Test
    void theModelThatProposesTokensCountsToo() throws Exception {
        begin(1);
        LoadRequest.Builder with = request().toBuilder();
        with.settings(Map.of("speculate", "draft", "draft.model", MODEL.toString()));
        ScheduledModel alone = (ScheduledModel) engine.load(request());
        ScheduledModel both = (ScheduledModel) engine.load(with.build());
        assertEquals(2 * alone.memoryBytes(), both.memoryBytes());
    }
}
