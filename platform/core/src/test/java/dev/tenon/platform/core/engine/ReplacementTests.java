package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Models that move to the next version of a bundle, number 8 instead of 7.
class ReplacementTests {
    private final ServiceRegistry registry = new ServiceRegistry();
    private final FakeBackend fast = new FakeBackend("fast", 2);
    private final FakeBackend next = new FakeBackend("fast", 2);
    private final TenonEngine engine;

    ReplacementTests() {
        registry.add(new FakeFormat());
        registry.add(new FakeLlama());
        registry.add(new ByteLevelBpeProvider());
        registry.add(new DefaultSamplerProvider());
        registry.add(fast, 7);
        registry.hold(8);
        registry.add(next, 8);
        engine = new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));
    }

    @Test
    void aHeldBundleIsNotOfferedAndThenTakesTheOthersPlace() {
        try (LoadedModel model = engine.load(EngineTests.request());
                Session session = model.newSession()) {
            EngineTests.generate(session, EngineTests.greedy(2, 1, 2, 3));
            assertEquals(1, fast.open.get());
            assertEquals(List.of(), engine.replace(Set.of(7L), Set.of(8L), "replaced", false));
            assertEquals(List.of(0, 1), List.of(fast.open.get(), next.open.get()));
            assertEquals(
                    FakeBackend.expected(new int[] {1, 2, 3, 6, 12}, EngineTests.VOCAB, 2),
                    EngineTests.generate(session, EngineTests.greedy(2)));
        }
        assertEquals(0, next.open.get());
    }

    @Test
    void aReplacementThatCannotRunAModelIsPutBack() {
        next.available = false;
        try (LoadedModel model = engine.load(
                        EngineTests.request().toBuilder().backend("fast").build());
                Session session = model.newSession()) {
            EngineTests.generate(session, EngineTests.greedy(2, 1, 2, 3));
            TenonException e =
                    assertThrows(TenonException.class, () -> engine.replace(Set.of(7L), Set.of(8L), "replaced", false));
            assertTrue(e.getMessage().contains("switched off"), e.getMessage());
            assertEquals(
                    FakeBackend.expected(new int[] {1, 2, 3, 6, 12}, EngineTests.VOCAB, 2),
                    EngineTests.generate(session, EngineTests.greedy(2)));
            assertEquals(1, fast.open.get());
        }
    }

    @Test
    void aReplacementThatComputesOtherLogitsIsPutBackUnlessThatIsAccepted() {
        next.shift = 1;
        try (LoadedModel model = engine.load(EngineTests.request());
                Session session = model.newSession()) {
            EngineTests.generate(session, EngineTests.greedy(2, 1, 2, 3));
            TenonException e =
                    assertThrows(TenonException.class, () -> engine.replace(Set.of(7L), Set.of(8L), "replaced", false));
            assertEquals(ErrorCode.BUNDLE_RESULTS, e.code());
            assertEquals(List.of(1, 0), List.of(fast.open.get(), next.open.get()));
            assertThrows(
                    TenonException.class,
                    () -> engine.replace(Set.of(7L), Set.of(8L), "replaced", false),
                    "also the second time, before the model has run again");
            assertTrue(
                    e.getMessage()
                            .startsWith(
                                    "the logits of a short text on ok_model.gguf differ: NMSE 0.031, by 2.00 at most;"
                                            + " the most probable token number 1 was 7 and becomes 8"),
                    e.getMessage());
            assertEquals(
                    FakeBackend.expected(new int[] {1, 2, 3, 6, 12}, EngineTests.VOCAB, 1),
                    EngineTests.generate(session, EngineTests.greedy(1)));
            List<String> differences = engine.replace(Set.of(7L), Set.of(8L), "replaced", true);
            assertEquals(1, differences.size());
            assertTrue(e.getMessage().startsWith(differences.getFirst()), differences.toString());
            assertEquals(List.of(0, 1), List.of(fast.open.get(), next.open.get()));
            assertEquals(
                    List.of((1 + 2 + 3 + 6 + 12 + 24 + 1) % EngineTests.VOCAB),
                    EngineTests.generate(session, EngineTests.greedy(1)));
        }
    }

    @Test
    void aReplacementOfWhatNoLongerWorksIsNotCompared() {
        next.shift = 1;
        try (LoadedModel model = engine.load(EngineTests.request())) {
            fast.failing = true;
            assertEquals(List.of(), engine.replace(Set.of(7L), Set.of(8L), "replaced", false));
            assertEquals(List.of(0, 1), List.of(fast.open.get(), next.open.get()));
        }
    }
}
