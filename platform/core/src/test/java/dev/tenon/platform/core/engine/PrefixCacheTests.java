package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.control.SchedulingStatus;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Prompts that begin alike, on a backend that adds up what stands in its pages: a wrong page gives a wrong token.
class PrefixCacheTests extends GenerationFixture {
    private static final int CONTEXT = 256;
    private static final int REPLY = 5;

    private LoadedModel shared(Map<String, String> settings) {
        return engine.load(request().toBuilder()
                .contextLength(CONTEXT)
                .maxBatchTokens(16)
                .settings(settings)
                .build());
    }

    private LoadedModel shared() {
        return shared(Map.of());
    }

    /// One sequence of window pages for 100 tokens.
    private LoadedModel withWindows() {
        device.window = 6;
        return engine.load(request().toBuilder()
                .contextLength(CONTEXT)
                .maxSequences(1)
                .maxBatchTokens(16)
                .build());
    }

    private static int[] prompt(int length, int seed) {
        return new Random(seed).ints(length, 0, VOCAB).toArray();
    }

    private static int[] joined(int[] first, int... rest) {
        int[] all = Arrays.copyOf(first, first.length + rest.length);
        System.arraycopy(rest, 0, all, first.length, rest.length);
        return all;
    }

    /// Generates in a session and checks the tokens.
    private static Usage check(Session session, int[] before, String group, int... prompt) {
        List<Integer> tokens = new ArrayList<>();
        Usage usage = session.generate(
                GenerationRequest.builder()
                        .prompt(prompt)
                        .sampling(SamplingParams.greedy())
                        .maxNewTokens(REPLY)
                        .ignoreEndOfGeneration(true)
                        .group(group)
                        .build(),
                GenerationListener.ofTokens(token -> tokens.add(token.id())));
        assertEquals(FakeBackend.expected(joined(before, prompt), VOCAB, REPLY), tokens);
        return usage;
    }

    private static Usage check(LoadedModel model, String group, int... prompt) {
        try (Session session = model.newSession()) {
            return check(session, new int[0], group, prompt);
        }
    }

    private static void assertCached(int expected, Usage usage, int length) {
        assertEquals(expected, usage.cachedTokens());
        assertEquals(length - expected, usage.promptTokens());
    }

    @Test
    void aPromptThatBeginsLikeAnEarlierOneRunsOnlyWhatIsNew() {
        try (LoadedModel model = shared()) {
            int[] prompt = prompt(50, 1);
            assertCached(0, check(model, "", prompt), 50);
            assertCached(48, check(model, "", prompt), 50);
            assertCached(48, check(model, "", joined(prompt, 7, 7, 7)), 53);
            int[] other = prompt.clone();
            other[21]++;
            assertCached(20, check(model, "", other), 50);
        }
    }

    @Test
    void theLastTokenOfAPromptAlwaysRuns() {
        try (LoadedModel model = shared()) {
            int[] prompt = prompt(48, 2);
            check(model, "", prompt);
            assertCached(44, check(model, "", prompt), 48);
        }
    }

    @Test
    void aReplyIsPartOfTheNextPromptOfAChat() {
        try (LoadedModel model = shared()) {
            int[] prompt = prompt(46, 3);
            check(model, "", prompt);
            int[] reply = FakeBackend.expected(prompt, VOCAB, REPLY).stream()
                    .mapToInt(Integer::intValue)
                    .toArray();
            assertCached(48, check(model, "", joined(joined(prompt, reply), 9, 9)), 53);
        }
    }

    @Test
    void groupsShareNothing() {
        try (LoadedModel model = shared()) {
            int[] prompt = prompt(50, 4);
            check(model, "a", prompt);
            assertCached(0, check(model, "b", prompt), 50);
            assertCached(48, check(model, "a", prompt), 50);
            try (Session session = model.newSession()) {
                check(session, new int[0], "a", prompt);
                // What a session runs for another group than its first tokens is for nobody else.
                int[] reply = FakeBackend.expected(prompt, VOCAB, REPLY).stream()
                        .mapToInt(Integer::intValue)
                        .toArray();
                int[] before = joined(prompt, reply);
                int[] more = prompt(30, 5);
                check(session, before, "b", more);
                assertCached(52, check(model, "a", joined(before, more)), 85);
                assertCached(52, check(model, "b", joined(before, more)), 85); // what it ran at first
            }
        }
    }

    @Test
    void itCanBeSwitchedOff() {
        try (LoadedModel model = shared(Map.of("prefix.cache", "off"))) {
            check(model, "", prompt(50, 6));
            assertCached(0, check(model, "", prompt(50, 6)), 50);
        }
    }

    @Test
    void modelsWithStatesGoOnWhereAStateWasKept() {
        device.states = true;
        device.checkpoints = 8;
        try (LoadedModel model = shared()) {
            int[] prompt = prompt(50, 6);
            assertCached(0, check(model, "", prompt), 50);
            assertCached(48, check(model, "", prompt), 50);
            assertCached(48, check(model, "", joined(prompt, 7, 7, 7)), 53);
            int[] reply = FakeBackend.expected(prompt, VOCAB, REPLY).stream()
                    .mapToInt(Integer::intValue)
                    .toArray();
            assertCached(52, check(model, "", joined(joined(prompt, reply), 9, 9)), 57);
            int[] other = prompt.clone();
            other[21]++;
            assertCached(0, check(model, "", other), 50);
            other[21]++; // the third that begins like this
            assertCached(20, check(model, "", other), 50);
            assertCached(0, check(model, "b", prompt), 50);
        }
    }

    @Test
    void modelsWithStatesKeepThemWhereMessagesEnd() {
        device.states = true;
        device.checkpoints = 8;
        try (LoadedModel model = shared()) {
            int[] system = prompt(31, 1);
            system[30] = IntStream.range(0, VOCAB)
                    .filter(model.tokenizer()::isEndOfGeneration)
                    .findFirst()
                    .orElseThrow();
            check(model, "", joined(system, prompt(60, 2)));
            assertCached(28, check(model, "", joined(system, prompt(40, 3))), 71);
        }
    }

    @Test
    void modelsWithWindowsGoOnWhereTheWindowIsStillThere() {
        try (LoadedModel model = withWindows()) {
            int[] prompt = prompt(250, 1);
            assertCached(0, check(model, "", prompt), 250);
            assertCached(248, check(model, "", prompt), 250);
            int[] other = prompt.clone();
            other[101]++;
            other[102]++;
            assertCached(96, check(model, "", other), 250); // as far as windows of the beginning are left
            other[101]++; // the third that begins like this
            assertCached(100, check(model, "", other), 250);
            for (int i = 0; i < 20; i++) {
                check(model, "", prompt(100, 10 + i));
            }
            assertCached(0, check(model, "", prompt), 250);
        }
    }

    @Test
    void modelsWithWindowsKeepThoseWhereMessagesEnd() {
        int[] system = prompt(31, 1);
        try (LoadedModel model = withWindows()) {
            check(model, "", joined(system, prompt(200, 2)));
            assertCached(12, check(model, "", joined(system, prompt(200, 3))), 231);
            system[30] = IntStream.range(0, VOCAB)
                    .filter(model.tokenizer()::isEndOfGeneration)
                    .findFirst()
                    .orElseThrow();
            check(model, "", joined(system, prompt(200, 2)));
            assertCached(28, check(model, "", joined(system, prompt(200, 3))), 231);
        }
    }

    @Test
    void statesThatTheDeviceHasNoRoomForAreKeptOnTheHost() {
        device.states = true;
        device.checkpoints = 1;
        for (int mebibytes = 0; mebibytes < 2; mebibytes++) {
            try (LoadedModel model = shared(Map.of("prefix.states.host.mb", "" + mebibytes))) {
                check(model, "", prompt(50, 1));
                check(model, "", prompt(50, 2));
                assertCached(48 * mebibytes, check(model, "", prompt(50, 1)), 50);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatASessionWasRestoredWithIsLeftToOthers(boolean states) throws Exception {
        device.states = states;
        device.checkpoints = 8;
        int[] prompt = prompt(50, 9);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (LoadedModel model = shared();
                Session session = model.newSession()) {
            check(session, new int[0], "", prompt);
            session.truncate(48);
            session.save(bytes);
        }
        try (LoadedModel model = shared();
                Session session = model.newSession()) {
            session.restore(new ByteArrayInputStream(bytes.toByteArray()));
            check(session, Arrays.copyOf(prompt, 48), "", 1, 2);
            assertCached(48, check(model, "", prompt), 50);
        }
    }

    @Test
    void cachedPagesAreTakenBackWhenTheyAreNeeded() {
        try (LoadedModel model = shared()) {
            for (int i = 0; i < 60; i++) {
                check(model, "", prompt(200, i));
            }
            assertCached(196, check(model, "", prompt(200, 59)), 200);
            assertCached(0, check(model, "", prompt(200, 0)), 200);
            SchedulingStatus status = ((ScheduledModel) model).scheduling();
            assertEquals(0, status.running() + status.waiting());
            assertEquals(196, status.reusedTokens());
            assertEquals(0, status.preemptions());
            assertEquals(status.pages(), status.freePages());
            assertTrue(status.keptPages() > status.pages() - 52, status + "");
        }
    }

    @Test
    void aSessionThatIsShortenedLeavesOthersTheirPages() {
        try (LoadedModel model = shared();
                Session first = model.newSession();
                Session second = model.newSession()) {
            int[] prompt = prompt(50, 7);
            check(first, new int[0], "", prompt);
            check(second, new int[0], "", prompt);
            for (int length = 50; length > 0; length--) {
                first.truncate(length);
                int[] kept = Arrays.copyOf(prompt, length);
                check(first, kept, "", prompt(9, length));
                first.truncate(0);
                assertCached((50 - 1) / 4 * 4, check(first, new int[0], "", prompt), 50);
            }
            second.truncate(50);
            check(second, prompt, "", 4, 5, 6);
        }
    }

    @Test
    void anEvaluatedTokenIsComputed() {
        try (LoadedModel model = shared();
                Session session = model.newSession()) {
            int[] prompt = prompt(50, 8);
            check(model, "", prompt);
            List<Integer> rows = new ArrayList<>();
            session.evaluate(prompt, Rows.ALL, (index, row) -> rows.add(index));
            assertEquals(50, rows.size());
        }
    }

    @Test
    void sessionsThatRunTogetherShareWhatTheFirstComputes() throws Exception {
        int sessions = 4;
        try (LoadedModel model = shared();
                ExecutorService threads = Executors.newFixedThreadPool(sessions)) {
            for (int round = 0; round < 50; round++) {
                int[] common = prompt(150, 1000 + round);
                List<Future<Usage>> all = new ArrayList<>();
                for (int s = 0; s < sessions; s++) {
                    int[] prompt = joined(common, prompt(s * 10 + 1, s));
                    all.add(threads.submit(() -> check(model, "", prompt)));
                }
                int ran = 0;
                for (Future<Usage> each : all) {
                    ran += each.get().promptTokens();
                }
                assertTrue(ran < 2 * 150 + 64, "round " + round + " ran " + ran + " tokens");
            }
        }
    }

    @Test
    void usedBySeveralAndShortOfPagesTheTextsStay() throws Exception {
        int sessions = 4;
        try (LoadedModel model = shared();
                ExecutorService threads = Executors.newFixedThreadPool(sessions)) {
            List<Future<?>> all = new ArrayList<>();
            for (int s = 0; s < sessions; s++) {
                Random random = new Random(s);
                all.add(threads.submit(() -> {
                    for (int round = 0; round < 100; round++) {
                        int[] prompt = joined(prompt(40 * random.nextInt(6), random.nextInt(3)), random.nextInt(VOCAB));
                        try (Session session = model.newSession()) {
                            check(session, new int[0], "g" + random.nextInt(2), prompt);
                            session.truncate(random.nextInt(prompt.length) + 1);
                            int[] kept = Arrays.copyOf(prompt, session.length());
                            check(session, kept, "g" + random.nextInt(2), 1, 2, 3);
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
