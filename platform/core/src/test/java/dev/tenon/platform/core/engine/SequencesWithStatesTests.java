package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.MANY;
import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.BackendException;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Sessions on a backend whose plans have states, and which refuses a step that does not go on where a state
/// is.
class SequencesWithStatesTests {
    private static final int[] PROMPT = IntStream.range(3, 33).toArray();

    private final ServiceRegistry registry = new ServiceRegistry();
    private final FakeBackend device = new FakeBackend("device", 2);
    private final TenonEngine engine = engine();

    private TenonEngine engine() {
        device.states = true;
        registry.add(device);
        registry.add(new FakeFormat());
        registry.add(new FakeLlama());
        registry.add(new ByteLevelBpeProvider());
        registry.add(new DefaultSamplerProvider());
        return new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));
    }

    /// Steps of seven tokens at most.
    private LoadedModel model(int sequences) {
        return engine.load(
                request().toBuilder().maxSequences(sequences).maxBatchTokens(7).build());
    }

    @Test
    void aSessionMayBeShortenedToAnyLength() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            for (int length = PROMPT.length; length >= 0; length--) {
                session.truncate(0);
                generate(session, greedy(4, PROMPT));
                session.truncate(length);
                int[] all = Arrays.copyOf(PROMPT, length + 3);
                Arrays.fill(all, length, length + 3, 50);
                assertEquals(
                        FakeBackend.expected(all, VOCAB, 5), generate(session, greedy(5, 50, 50, 50)), "" + length);
            }
        }
    }

    @Test
    void aSessionGoesOnAfterAStepThatFailedInTheMiddle() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            device.onStep = () -> device.failingLate = device.steps.get() == 3;
            assertThrows(BackendException.class, () -> generate(session, greedy(3, PROMPT)));
            device.onStep = () -> {};
            device.failingLate = false;
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, 5), generate(session, greedy(5)));
        }
    }

    @Test
    void aSessionGoesOnAfterItWasCancelled() {
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            List<Integer> all = new ArrayList<>();
            session.generate(greedy(MANY, PROMPT), GenerationListener.ofTokens(token -> {
                all.add(token.id());
                if (all.size() == 5) {
                    session.cancel();
                }
            }));
            int delivered = session.length() - PROMPT.length;
            List<Integer> further = generate(session, greedy(5));
            assertEquals(FakeBackend.expected(PROMPT, VOCAB, delivered + 5).subList(delivered, delivered + 5), further);
        }
    }

    @Test
    void sessionsDoNotDisturbEachOther() throws Exception {
        int sessions = 4;
        try (LoadedModel model = model(sessions);
                ExecutorService threads = Executors.newFixedThreadPool(sessions)) {
            List<Future<?>> all = new ArrayList<>();
            for (int s = 0; s < sessions; s++) {
                int first = s;
                all.add(threads.submit(() -> {
                    for (int round = 0; round < 20; round++) {
                        try (Session session = model.newSession()) {
                            int[] prompt = IntStream.range(first, first + 5 + 3 * first + round)
                                    .toArray();
                            assertEquals(FakeBackend.expected(prompt, VOCAB, 9), generate(session, greedy(9, prompt)));
                        }
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
    }
}
