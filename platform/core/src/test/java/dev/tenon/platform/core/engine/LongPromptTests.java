package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/// A long prompt runs alone, on a device whose every step takes longer than is allowed: so the steps are as short as
/// they may be, however fast the machine is.
class LongPromptTests {
    private static final int LONG = 1000;

    private final ServiceRegistry registry = new ServiceRegistry();
    private final FakeBackend device = new FakeBackend("device", 2);
    private final TenonEngine engine = engine();

    private TenonEngine engine() {
        device.stepMillis = 20;
        registry.add(device);
        registry.add(new FakeFormat());
        registry.add(new FakeLlama());
        registry.add(new ByteLevelBpeProvider());
        registry.add(new DefaultSamplerProvider());
        return new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));
    }

    private LoadedModel model(int sequences) {
        return engine.load(request().toBuilder()
                .maxSequences(sequences)
                .contextLength(2 * LONG)
                .maxBatchTokens(400)
                .settings(Map.of("prefill.budget.ms", "1"))
                .build());
    }

    private static int[] prompt(int tokens) {
        int[] prompt = new int[tokens];
        Arrays.setAll(prompt, i -> (7 * i) % VOCAB);
        return prompt;
    }

    @Test
    void stepsAreShortWhereOthersMayComeAndLongWhereNobodyCan() {
        try (LoadedModel model = model(2);
                Session session = model.newSession()) {
            assertEquals(FakeBackend.expected(prompt(LONG), VOCAB, 1), generate(session, greedy(1, prompt(LONG))));
            assertEquals(64, device.batchSizes.getFirst());
            assertEquals(31, device.batchSizes.size(), device.batchSizes::toString);
            assertTrue(
                    device.batchSizes.stream().skip(1).allMatch(tokens -> tokens <= 32), device.batchSizes::toString);
        }
        device.batchSizes.clear();
        try (LoadedModel model = model(1);
                Session session = model.newSession()) {
            generate(session, greedy(1, prompt(LONG)));
            assertEquals(List.of(400, 400, 200), device.batchSizes);
        }
    }

    /// It comes while a step of the long one runs; the step after the next does not begin before its token is there.
    @Test
    void aShortPromptHasItsTokenAfterTheNextStep() {
        for (int came = 3; came < 7; came++) {
            device.steps.set(0);
            int during = came;
            CompletableFuture<List<Integer>> answer = new CompletableFuture<>();
            AtomicBoolean late = new AtomicBoolean();
            try (LoadedModel model = model(2);
                    Session session = model.newSession();
                    Session other = model.newSession()) {
                device.onStep = () -> {
                    if (device.steps.get() == during) {
                        answer.completeAsync(() -> generate(other, greedy(1, 1, 2, 3)));
                        while (((ScheduledModel) model).scheduling().waiting() == 0) {
                            Thread.onSpinWait();
                        }
                    } else if (device.steps.get() == during + 2) {
                        answer.orTimeout(1, TimeUnit.MINUTES).exceptionally(e -> {
                            late.set(true);
                            return List.of();
                        });
                        answer.handle((tokens, e) -> tokens).join();
                    }
                };
                generate(session, greedy(1, prompt(LONG)));
                assertTrue(!late.get(), "the short prompt was not in step " + (during + 1));
                assertEquals(FakeBackend.expected(new int[] {1, 2, 3}, VOCAB, 1), answer.join());
            }
        }
    }
}
