package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EngineTests {
    static final int VOCAB = 261;
    /// More tokens than a generation is ahead of its listener.
    static final int MANY = 1000;

    private final ServiceRegistry registry = new ServiceRegistry();
    private final FakeBackend slow = new FakeBackend("slow", 1);
    private final FakeBackend fast = new FakeBackend("fast", 2);
    private final FakeFormat format = new FakeFormat();
    private final FakeLlama llama = new FakeLlama();
    private final TenonEngine engine = engine(Map.of());

    private TenonEngine engine(Map<String, String> settings) {
        registry.add(slow);
        registry.add(fast);
        registry.add(format);
        registry.add(llama);
        registry.add(new ByteLevelBpeProvider());
        registry.add(new DefaultSamplerProvider());
        return new TenonEngine(registry, EngineConfig.of(settings, Map.of()));
    }

    static LoadRequest request() {
        try {
            return LoadRequest.of(Path.of(EngineTests.class
                    .getResource("/golden/malformed/ok_model.gguf")
                    .toURI()));
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    static GenerationRequest greedy(int max, int... prompt) {
        return GenerationRequest.builder()
                .prompt(prompt)
                .sampling(SamplingParams.greedy())
                .maxNewTokens(max)
                .ignoreEndOfGeneration(true)
                .build();
    }

    static List<Integer> generate(Session session, GenerationRequest request) {
        List<Integer> tokens = new ArrayList<>();
        session.generate(request, GenerationListener.ofTokens(token -> tokens.add(token.id())));
        return tokens;
    }

    @Test
    void theBestRankedBackendRunsTheModelAndIsClosedWithIt() {
        try (LoadedModel model = engine.load(request())) {
            assertEquals("fast", model.backend());
            assertEquals(1, fast.open.get());
        }
        assertEquals(0, fast.open.get());
        assertEquals(List.of(), engine.models());
    }

    @Test
    void anUnavailableBackendIsPassedOver() {
        fast.available = false;
        try (LoadedModel model = engine.load(request())) {
            assertEquals("slow", model.backend());
        }
    }

    @Test
    void aBackendThatIsAskedForIsNotReplacedByAnother() {
        fast.available = false;
        BackendException e = assertThrows(
                BackendException.class,
                () -> engine.load(request().toBuilder().backend("fast").build()));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("switched off"), e.getMessage());
        e = assertThrows(
                BackendException.class,
                () -> engine.load(request().toBuilder().backend("none").build()));
        assertTrue(e.getMessage().contains("fast, slow"), e.getMessage());
    }

    @Test
    void tensorsThatTheArchitectureLeavesOverAreRefusedTogetherUnlessTheyAreAllowed() {
        llama.ignored = tensor -> !tensor.equals("blk.0.attn_q.weight");
        UnsupportedModelException e = assertThrows(UnsupportedModelException.class, () -> engine.load(request()));
        assertEquals(ErrorCode.MODEL_TENSOR_UNUSED, e.code());
        assertEquals(1, e.issues().size(), e.getMessage());
        String message = e.getMessage();
        assertTrue(message.contains("blk.0.attn_q.weight") && !message.contains("blk.0.attn_k.weight"), message);
        assertTrue(message.startsWith("ok_model.gguf cannot be loaded: a tensor is not used by llama ("), message);
        assertTrue(message.contains("test-classes"), () -> "names no origin of the architecture: " + message);
        assertTrue(message.contains("unused.tensors=allow"), message);
        assertEquals(0, fast.open.get());
        engine.load(request().toBuilder()
                        .settings(Map.of("unused.tensors", "allow"))
                        .build())
                .close();
        engine.configure(EngineConfig.of(Map.of("unused.tensors", "allow"), Map.of()));
        engine.load(request()).close();
        assertThrows(
                UnsupportedModelException.class,
                () -> engine.load(request().toBuilder()
                        .settings(Map.of("unused.tensors", "refuse"))
                        .build()));
    }

    @Test
    void outputsThatNobodyWantsLeaveNoTensorsOver() {
        llama.ignored = tensor -> !tensor.equals("output_norm.weight");
        llama.hidden = true;
        engine.load(request().toBuilder().outputs(Graph.LOGITS).build()).close();
    }

    @Test
    void twoBackendsWithOneIdAreRefusedUnlessOneIsPreferred() {
        registry.add(new FakeBackend("fast", 3));
        TenonException e = assertThrows(TenonException.class, () -> engine.load(request()));
        assertEquals(ErrorCode.DUPLICATE_ID, e.code());
        engine.configure(EngineConfig.of(Map.of("prefer.backend.fast", "FakeBackend"), Map.of()));
        engine.load(request()).close();
    }

    @Test
    void aReplyGoesOnWithACharacterThatThePromptCutsHoweverLongThatIs() {
        try (LoadedModel model = engine.load(request())) {
            int lead = ofByte(model, 0xc3);
            int next = ofByte(model, 0xa9);
            for (int length : new int[] {2, 63, 64, 65, 100}) {
                int[] prompt = new int[length];
                Arrays.fill(prompt, 7);
                prompt[length - 1] = lead;
                prompt[0] = Math.floorMod(next - Arrays.stream(prompt).skip(1).sum(), VOCAB); // makes `next` follow
                StringBuilder text = new StringBuilder();
                try (Session session = model.newSession()) {
                    session.generate(greedy(1, prompt), text::append);
                }
                assertEquals("é", text.toString(), length + " tokens");
            }
        }
    }

    private static int ofByte(LoadedModel model, int value) {
        return IntStream.range(0, VOCAB)
                .filter(id -> Arrays.equals(model.tokenizer().bytes(id), new byte[] {(byte) value}))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void generationGoesOverPagesAndChunksAndSessionsGrow() {
        try (LoadedModel model =
                        engine.load(request().toBuilder().maxBatchTokens(3).build());
                Session session = model.newSession()) {
            int[] prompt = {5, 6, 7, 8, 9, 10, 11};
            assertEquals(FakeBackend.expected(prompt, VOCAB, 10), generate(session, greedy(10, prompt)));
            assertEquals(17, session.length());
            assertTrue(fast.batchSizes.stream().allMatch(n -> n <= 3), fast.batchSizes.toString());
            List<Integer> more = generate(session, greedy(2, 1, 2));
            assertEquals(2, more.size());
            assertEquals(21, session.length());
        }
    }

    @Test
    void aPromptLongerThanTheContextIsRefusedAndTheSessionStaysUsable() {
        try (LoadedModel model =
                        engine.load(request().toBuilder().contextLength(8).build());
                Session session = model.newSession()) {
            session.evaluate(new int[] {1, 2, 3}, Rows.NONE, (i, l) -> {});
            OutOfResourcesException e =
                    assertThrows(OutOfResourcesException.class, () -> generate(session, greedy(4, 1, 2, 3, 4, 5, 6)));
            assertEquals(ErrorCode.CONTEXT_LENGTH, e.code());
            assertEquals(6, e.asked());
            assertEquals(8, e.limit());
            assertEquals(3, session.length());
            Usage usage = session.generate(greedy(100, 4), text -> {});
            assertEquals(FinishReason.LENGTH, usage.finish());
            assertEquals(8, session.length());
        }
    }

    @Test
    void tokensOutOfRangeAreRefused() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            TenonException e = assertThrows(TenonException.class, () -> generate(session, greedy(1, VOCAB)));
            assertEquals(ErrorCode.ARGUMENT, e.code());
            assertThrows(TenonException.class, () -> generate(session, greedy(1, -1)));
            assertEquals(0, session.length());
        }
    }

    @Test
    void stopStringsEndTheTextBeforeThem() {
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
        }
    }

    @Test
    void cancellingEndsARunningGeneration() throws Exception {
        slow.stepMillis = 5;
        try (LoadedModel model =
                        engine.load(request().toBuilder().backend("slow").build());
                Session session = model.newSession();
                var threads = Executors.newSingleThreadExecutor()) {
            CountDownLatch started = new CountDownLatch(1);
            Future<Usage> usage = threads.submit(() ->
                    session.generate(greedy(100_000, 1), GenerationListener.ofTokens(token -> started.countDown())));
            Waiting.until(started, usage);
            session.cancel();
            assertEquals(FinishReason.CANCELLED, usage.get().finish());
        }
    }

    @Test
    void sessionsThatRunTogetherShareSteps() throws Exception {
        fast.stepMillis = 2;
        int sessions = 4;
        try (LoadedModel model = engine.load(request().toBuilder()
                        .maxSequences(sessions)
                        .contextLength(64)
                        .build());
                var threads = Executors.newFixedThreadPool(sessions)) {
            // Nobody goes on after the first token before all have one: else they might come one after the other.
            Phaser together = new Phaser(sessions);
            List<Future<List<Integer>>> results = new ArrayList<>();
            for (int s = 0; s < sessions; s++) {
                int first = s + 3;
                results.add(threads.submit(() -> {
                    List<Integer> tokens = new ArrayList<>();
                    try (Session session = model.newSession()) {
                        tokens.addAll(generate(session, greedy(1, first, first)));
                        together.arriveAndAwaitAdvance();
                        tokens.addAll(generate(session, greedy(19)));
                    } finally {
                        together.arriveAndDeregister(); // nobody waits for one that failed
                    }
                    return tokens;
                }));
            }
            for (int s = 0; s < sessions; s++) {
                assertEquals(
                        FakeBackend.expected(new int[] {s + 3, s + 3}, VOCAB, 20),
                        results.get(s).get());
            }
            assertTrue(fast.steps.get() < sessions * 20, fast.steps + " steps");
        }
    }

    @Test
    void everySequenceHasRoomForItsWholeContext() {
        int sequences = 5;
        try (LoadedModel model = engine.load(request().toBuilder()
                .maxSequences(sequences)
                .contextLength(FakeBackend.PAGE + 1)
                .build())) {
            for (int s = 0; s < sequences; s++) {
                model.newSession().evaluate(new int[FakeBackend.PAGE + 1], Rows.NONE, (i, logits) -> {});
            }
        }
    }

    @Test
    void moreSessionsThanSequencesAreRefused() {
        try (LoadedModel model =
                        engine.load(request().toBuilder().maxSequences(1).build());
                Session session = model.newSession()) {
            OutOfResourcesException e = assertThrows(OutOfResourcesException.class, model::newSession);
            assertEquals(ErrorCode.KV_PAGES, e.code());
            session.close();
            model.newSession().close();
        }
    }

    @Test
    void aFailedStepLeavesTheSessionUsable() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            fast.failing = true;
            BackendException e = assertThrows(BackendException.class, () -> generate(session, greedy(3, 1, 2)));
            assertEquals(ErrorCode.BACKEND_FAILED, e.code());
            fast.failing = false;
            session.truncate(0);
            assertEquals(FakeBackend.expected(new int[] {1, 2}, VOCAB, 3), generate(session, greedy(3, 1, 2)));
        }
    }

    @Test
    void anErrorInAStepReachesTheCallerAndNobodyWaitsForEver() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            fast.broken = true;
            BackendException e = assertThrows(BackendException.class, () -> generate(session, greedy(3, 1, 2)));
            assertEquals(ErrorCode.BACKEND_FAILED, e.code());
            assertTrue(e.getCause() instanceof NoClassDefFoundError, e.toString());
            fast.broken = false;
            session.truncate(0);
            assertEquals(FakeBackend.expected(new int[] {1, 2}, VOCAB, 3), generate(session, greedy(3, 1, 2)));
        }
    }

    @Test
    void aGenerationMovesToAnotherBackendWhenItsOwnIsWithdrawn() {
        try (LoadedModel model = engine.load(
                        request().toBuilder().contextLength(2 * MANY).build());
                Session session = model.newSession()) {
            int[] prompt = {1, 2, 3, 4, 5, 6};
            List<Integer> tokens = new ArrayList<>();
            List<String> moves = new ArrayList<>();
            session.generate(greedy(MANY, prompt), new GenerationListener() {
                @Override
                public void onText(String text) {}

                @Override
                public void onToken(GeneratedToken token) {
                    tokens.add(token.id());
                    if (tokens.size() == 3) {
                        registry.remove(fast);
                        assertEquals(0, fast.open.get());
                    }
                }

                @Override
                public void onMoved(String reason) {
                    moves.add(reason);
                }
            });
            assertEquals(FakeBackend.expected(prompt, VOCAB, MANY), tokens);
            assertEquals("slow", model.backend());
            assertEquals(1, moves.size());
        }
        assertEquals(0, slow.open.get());
    }

    @Test
    void aModelReturnsToItsBackendWhenThatComesBack() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            registry.remove(fast);
            generate(session, greedy(2, 1, 2, 3));
            assertEquals("slow", model.backend());
            registry.add(fast);
            assertEquals(FakeBackend.expected(new int[] {1, 2, 3, 6, 12}, VOCAB, 2), generate(session, greedy(2)));
            assertEquals("fast", model.backend());
            assertEquals(0, slow.open.get());
        }
    }

    @Test
    void withoutAReplacementTheGenerationEndsWithTheReasonAndRecoversLater() {
        engine.configure(EngineConfig.of(Map.of("move.timeout.ms", "50"), Map.of()));
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            int[] prompt = {1, 2, 3};
            generate(session, greedy(2, prompt));
            registry.remove(format);
            BackendException e = assertThrows(BackendException.class, () -> generate(session, greedy(2, 9)));
            assertEquals(ErrorCode.BACKEND_WITHDRAWN, e.code());
            assertTrue(e.getMessage().contains(ErrorCode.MODEL_TENSOR_FORMAT), e.getMessage());
            registry.add(format);
            session.truncate(3);
            assertEquals(FakeBackend.expected(new int[] {1, 2, 3, 9}, VOCAB, 2), generate(session, greedy(2, 9)));
        }
    }

    @Test
    void aChangedSettingMovesTheModelWhileItsSessionGoesOn() {
        try (LoadedModel model = engine.load(request());
                Session session = model.newSession()) {
            generate(session, greedy(2, 1, 2, 3));
            engine.configure(EngineConfig.of(Map.of("backend", "slow"), Map.of()));
            assertEquals("slow", model.backend());
            assertEquals(0, fast.open.get());
            int[] all = {1, 2, 3, 6, 12};
            assertEquals(FakeBackend.expected(all, VOCAB, 2), generate(session, greedy(2)));
        }
    }

    @Test
    void usingAClosedSessionOrModelIsRefused() {
        LoadedModel model = engine.load(request());
        Session session = model.newSession();
        Session other = session;
        session.close();
        assertEquals(
                ErrorCode.CLOSED,
                assertThrows(TenonException.class, () -> generate(other, greedy(1, 1)))
                        .code());
        model.close();
        assertEquals(
                ErrorCode.CLOSED,
                assertThrows(TenonException.class, model::newSession).code());
        engine.close();
        assertThrows(TenonException.class, () -> engine.load(request()));
    }

    @Test
    void anUnknownArchitectureSaysWhatIsInstalled() {
        ServiceRegistry empty = new ServiceRegistry();
        empty.add(format);
        empty.add(fast);
        empty.add(new ByteLevelBpeProvider());
        TenonEngine bare = new TenonEngine(empty, EngineConfig.of(Map.of(), Map.of()));
        UnsupportedModelException e = assertThrows(UnsupportedModelException.class, () -> bare.load(request()));
        assertEquals(ErrorCode.MODEL_ARCHITECTURE, e.code());
        assertTrue(e.getMessage().contains("'llama'"), e.getMessage());
    }

    @Test
    void loadingClosesTheFileWhenItFails() {
        registry.remove(format);
        assertThrows(UnsupportedModelException.class, () -> engine.load(request()));
        assertEquals(List.of(), engine.models());
        assertEquals(0, fast.open.get());
    }

    @Test
    void autoNeverTakesABackendOfNegativeRank() {
        registry.add(new FakeBackend("odd", -1));
        fast.available = false;
        slow.available = false;
        BackendException e = assertThrows(BackendException.class, () -> engine.load(request()));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("odd: used only when it is named"), e.getMessage());
        try (LoadedModel model =
                engine.load(request().toBuilder().backend("odd").build())) {
            assertEquals("odd", model.backend());
        }
    }
}
