package dev.tenon.platform.core.engine;

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
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/// Generations in which the device chooses the tokens: they give what those give in which the host
/// does.
class DeviceGenerationTests {
    private final FakeBackend device = new FakeBackend("device", 1);
    private final TenonEngine engine = engine();

    private TenonEngine engine() {
        device.chooses = true;
        ServiceRegistry registry = new ServiceRegistry();
        registry.add(device);
        registry.add(new FakeFormat());
        registry.add(new FakeLlama());
        registry.add(new ByteLevelBpeProvider());
        registry.add(new DefaultSamplerProvider());
        return new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));
    }

    private int runs() {
        return device.runs.size();
    }

    @Test
    void aRunGoesOverPagesAndTheSessionGoesOnAfterIt() {
        int[] prompt = {5, 6, 7, 8, 9, 10, 11};
        try (LoadedModel model =
                        engine.load(request().toBuilder().contextLength(160).build());
                Session session = model.newSession()) {
            List<Integer> expected = FakeBackend.expected(prompt, VOCAB, 100);
            assertEquals(expected, generate(session, greedy(100, prompt)));
            // The first token is chosen in the prompt's step.
            assertEquals(
                    99,
                    device.runs.stream().mapToInt(Integer::intValue).sum(),
                    () -> "a run ends where the listener is far behind: " + device.runs);
            assertEquals(107, session.length());
            session.truncate(50);
            assertEquals(expected.subList(44, 49), generate(session, greedy(5, expected.get(43))));
        }
    }

    @Test
    void afterAPromptOfOneTokenTheDeviceChoosesFromTheFirstOn() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            List<String> heard = new ArrayList<>();
            session.generate(greedy(3, 8), new GenerationListener() {
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
            assertEquals(List.of("prompt 1 of 1", "token 8", "token 16", "token 32"), heard.subList(0, 4));
            assertEquals(List.of(3), List.copyOf(device.runs));
        }
    }

    @Test
    void theContextEndsARun() {
        try (LoadedModel model =
                        engine.load(request().toBuilder().contextLength(8).build());
                Session session = model.newSession()) {
            Usage usage = session.generate(greedy(100, 1, 2, 3), text -> {});
            assertEquals(FinishReason.LENGTH, usage.finish());
            assertEquals(8, session.length());
            assertEquals(5, usage.generatedTokens());
        }
    }

    @Test
    void aStopEndsARunAndWhatTheDeviceSampledAfterItIsForgotten() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            int[] prompt = model.tokenizer().encode("!", false, false);
            StringBuilder all = new StringBuilder();
            session.generate(greedy(6, prompt), all::append);
            session.truncate(0);
            String stop = all.substring(2, 4);
            StringBuilder text = new StringBuilder();
            GenerationRequest request = GenerationRequest.builder()
                    .prompt(prompt)
                    .sampling(SamplingParams.greedy())
                    .maxNewTokens(6)
                    .stop(List.of(stop))
                    .ignoreEndOfGeneration(true)
                    .build();
            Usage usage = session.generate(request, text::append);
            assertEquals(FinishReason.STOP, usage.finish());
            assertEquals(all.substring(0, all.indexOf(stop)), text.toString());
            assertEquals(prompt.length + usage.generatedTokens(), session.length());
        }
    }

    @Test
    void aListenerMayThrowAndCancel() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            List<Integer> heard = new ArrayList<>();
            IllegalStateException thrown = assertThrows(
                    IllegalStateException.class,
                    () -> session.generate(greedy(50, 3, 4), GenerationListener.ofTokens(token -> {
                        heard.add(token.id());
                        if (heard.size() == 7) {
                            throw new IllegalStateException("the consumer's own");
                        }
                    })));
            assertEquals("the consumer's own", thrown.getMessage());
            assertEquals(FakeBackend.expected(new int[] {3, 4}, VOCAB, 7), heard);
            assertEquals(9, session.length());
            Usage usage = session.generate(greedy(50), GenerationListener.ofTokens(token -> session.cancel()));
            assertEquals(FinishReason.CANCELLED, usage.finish());
            assertEquals(1, usage.generatedTokens());
            assertEquals(
                    FakeBackend.expected(new int[] {3, 4}, VOCAB, 12).subList(8, 12), generate(session, greedy(4)));
        }
    }

    @Test
    void sessionsThatRunTogetherAllGetTheirTokens() throws Exception {
        device.stepMillis = 1;
        int sessions = 4;
        try (LoadedModel model = engine.load(request().toBuilder()
                        .maxSequences(sessions)
                        .contextLength(64)
                        .build());
                var threads = Executors.newFixedThreadPool(sessions)) {
            List<Future<List<Integer>>> results = new ArrayList<>();
            for (int s = 0; s < sessions; s++) {
                int first = s + 3;
                int count = 10 + 7 * s;
                results.add(threads.submit(() -> {
                    try (Session session = model.newSession()) {
                        return generate(session, greedy(count, first, first));
                    }
                }));
            }
            for (int s = 0; s < sessions; s++) {
                int[] prompt = {s + 3, s + 3};
                assertEquals(
                        FakeBackend.expected(prompt, VOCAB, 10 + 7 * s),
                        results.get(s).get(),
                        "session " + s);
            }
            assertTrue(runs() > 0, "no run");
        }
    }

    @Test
    void whoComesWhileARunIsOnWaitsForAStepNotForTheRun() throws Exception {
        try (LoadedModel model = engine.load(request().toBuilder()
                        .maxSequences(2)
                        .contextLength(40_000)
                        .build());
                Session first = model.newSession();
                Session second = model.newSession();
                var threads = Executors.newSingleThreadExecutor()) {
            device.stepMillis = 2;
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch served = new CountDownLatch(1);
            Future<Usage> usage =
                    threads.submit(() -> first.generate(greedy(100_000, 1), GenerationListener.ofTokens(token -> {
                        started.countDown();
                        if (served.getCount() == 0) {
                            first.cancel();
                        }
                    })));
            Waiting.until(started, usage);
            assertEquals(FakeBackend.expected(new int[] {9}, VOCAB, 1), generate(second, greedy(1, 9)));
            served.countDown();
            // It would have reached the context's end if the second one had waited for all of it.
            assertEquals(FinishReason.CANCELLED, usage.get().finish());
        }
    }

    @Test
    void aFullCacheLeavesRunsOfOneStep() {
        try (LoadedModel model = engine.load(
                        request().toBuilder().maxSequences(1).contextLength(8).build());
                Session session = model.newSession()) {
            assertEquals(FakeBackend.expected(new int[] {7}, VOCAB, 7), generate(session, greedy(7, 7)));
            assertTrue(device.runs.stream().allMatch(n -> n <= 7), device.runs.toString());
            session.truncate(0);
            assertEquals(FakeBackend.expected(new int[] {2}, VOCAB, 7), generate(session, greedy(7, 2)));
        }
    }

    @Test
    void whatTheDeviceCannotDoTheHostDoes() {
        SamplingParams warm = SamplingParams.builder()
                .temperature(0.5f)
                .topK(0)
                .topP(1)
                .minP(0)
                .seed(1)
                .build();
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            List<Integer> tokens = generate(
                    session,
                    GenerationRequest.builder()
                            .prompt(new int[] {4})
                            .sampling(warm)
                            .maxNewTokens(10)
                            .ignoreEndOfGeneration(true)
                            .build());
            assertEquals(10, tokens.size());
            assertEquals(0, runs());
            assertEquals(0, device.chosen.get());
        }
    }
}
