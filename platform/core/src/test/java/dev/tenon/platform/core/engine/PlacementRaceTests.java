package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Services that go at the very moment that a model is being placed on them.
class PlacementRaceTests {
    private final ServiceRegistry registry = new ServiceRegistry();
    private final FakeBackend slow = new FakeBackend("slow", 1);
    private final FakeBackend fast = new FakeBackend("fast", 2);
    private final TenonEngine engine = engine();

    private TenonEngine engine() {
        registry.add(slow);
        registry.add(fast);
        registry.add(new FakeFormat());
        registry.add(new FakeLlama());
        registry.add(new ByteLevelBpeProvider());
        registry.add(new DefaultSamplerProvider());
        return new TenonEngine(registry, settings("auto"));
    }

    private static EngineConfig settings(String backend) {
        return EngineConfig.of(Map.of("backend", backend, "move.timeout.ms", "0"), Map.of());
    }

    private LoadedModel load() throws Exception {
        return engine.load(LoadRequest.of(Path.of(PlacementRaceTests.class
                .getResource("/golden/malformed/ok_model.gguf")
                .toURI())));
    }

    private static void generate(Session session) {
        session.generate(
                GenerationRequest.builder()
                        .prompt(new int[] {1})
                        .sampling(SamplingParams.greedy())
                        .maxNewTokens(2)
                        .ignoreEndOfGeneration(true)
                        .build(),
                text -> {});
    }

    @Test
    void aBackendThatGoesWhileANewSettingMovesTheModelToItIsNotUsed() throws Exception {
        try (LoadedModel model = load();
                Session session = model.newSession()) {
            slow.onCompile = () -> registry.remove(slow);
            engine.configure(settings("slow"));
            assertEquals(0, slow.open.get(), "open devices of the backend that has gone");
            BackendException e = assertThrows(BackendException.class, () -> generate(session));
            assertEquals(ErrorCode.BACKEND_WITHDRAWN, e.code());
            assertEquals(0, slow.steps.get());

            slow.onCompile = () -> {};
            registry.add(slow);
            generate(session);
            assertEquals("slow", model.backend());
        }
    }

    /// The time that a model waits for another bundle is not that of whoever withdraws one.
    @Test
    @Timeout(60)
    void aBackendThatGoesAgainWhileTheModelIsPlacedOnItIsNotHeld() throws Exception {
        engine.configure(EngineConfig.of(Map.of("backend", "slow", "move.timeout.ms", "600000"), Map.of()));
        try (LoadedModel model = load();
                Session session = model.newSession()) {
            registry.remove(slow);
            CountDownLatch placing = new CountDownLatch(1);
            CountDownLatch leaving = new CountDownLatch(1);
            slow.onCompile = () -> {
                placing.countDown();
                awaitUninterruptibly(leaving);
            };
            registry.add(slow);
            FutureTask<Void> generation = new FutureTask<>(() -> generate(session), null);
            Thread.ofPlatform().start(generation);
            placing.await();
            Thread withdrawal = Thread.ofPlatform().start(() -> registry.remove(slow));
            withdrawal.join(100); // long enough to wait for the model, as a rule
            leaving.countDown();
            withdrawal.join();

            slow.onCompile = () -> {};
            registry.add(slow);
            generation.get();
            assertEquals("slow", model.backend());
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aBackendThatGoesWhileAModelIsLoadedOnItIsNotUsed() throws Exception {
        fast.onCompile = () -> registry.remove(fast);
        try (LoadedModel model = load();
                Session session = model.newSession()) {
            generate(session);
            assertEquals("slow", model.backend());
            assertEquals(0, fast.open.get());
            assertEquals(0, fast.steps.get());
        }
    }
}
