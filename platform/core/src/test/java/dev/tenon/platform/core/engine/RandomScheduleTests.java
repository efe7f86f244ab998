package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.speculation.TokenProposerProvider;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.ScheduledModel;
import dev.tenon.platform.core.control.SchedulingStatus;
import dev.tenon.platform.core.settings.EngineConfig;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Chats that begin alike, come at any time, are cancelled, shortened and go on, short of pages, with proposals, runs
/// on the device, checkpoints of states there, on the host and on disk, windows, with what other models were closed
/// with, and moves to other placements: each text is the one that a prompt gives alone. `-Dtenon.schedules=N` runs
/// N of them.
class RandomScheduleTests extends GenerationFixture {
    private static final int CONTEXT = 256;
    private static final int CALLS = 12;

    @TempDir
    Path folder;

    private long reused;
    private long fromDisk;
    private long reusedWithWindows;
    private long accepted;
    private long refused;
    private long byHead;

    RandomScheduleTests() {
        registry.add(new Mostly());
        llama.heads = true;
        device.misguess = 5;
        device.slotBytes = 1 << 18;
    }

    @BeforeEach
    void configure() {
        engine.configure(EngineConfig.of(Map.of("prefix.folder", folder.toString()), Map.of()));
    }

    /// Proposes what follows, but for one token in four.
    private static final class Mostly implements TokenProposerProvider, TokenProposer {
        private final Random random = new Random(1);

        @Override
        public String id() {
            return "mostly";
        }

        @Override
        public TokenProposer create(String argument, Tokenizer tokenizer) {
            return this;
        }

        @Override
        public int most() {
            return 6;
        }

        @Override
        public int[] propose(TokenHistory tokens, int most) {
            int[] all = IntStream.range(0, tokens.length()).map(tokens::token).toArray();
            return FakeBackend.expected(all, VOCAB, most).stream()
                    .mapToInt(token -> random.nextInt(4) == 0 ? 0 : token)
                    .toArray();
        }
    }

    /// A session, the tokens that it was given and gave, and its call that runs.
    private final class Chat {
        final Session session;
        int[] tokens = {};
        int before;
        int prompted;
        int most;
        Generation running;

        private final boolean head;

        Chat(LoadedModel model, boolean head) {
            session = model.newSession();
            this.head = head;
        }

        /// Asks something.
        void ask(Random random, int[] prompt) {
            before = tokens.length;
            prompted = before + prompt.length;
            most = 1 + random.nextInt(30);
            tokens = joined(tokens, prompt);
            running = session.submit(GenerationRequest.builder()
                    .prompt(prompt)
                    .sampling(SamplingParams.greedy())
                    .maxNewTokens(most)
                    .ignoreEndOfGeneration(true)
                    .priority(random.nextInt(2))
                    .group("g" + random.nextInt(8) / 7)
                    .build());
        }

        /// Waits for the end of a reply, and checks it.
        void end(boolean cancel) {
            if (cancel) {
                running.cancel();
            }
            Usage usage = running.result().toCompletableFuture().join();
            // What its own session had computed at most is no reuse.
            reused += device.states ? Math.max(0, usage.cachedTokens() - before) : 0;
            reusedWithWindows += device.window > 0 ? Math.max(0, usage.cachedTokens() - before) : 0;
            accepted += device.states ? usage.acceptedTokens() : 0;
            refused += device.states ? usage.draftedTokens() - usage.acceptedTokens() : 0;
            byHead += head ? usage.acceptedTokens() : 0;
            int[] all = session.tokens();
            List<Integer> expected = FakeBackend.expected(Arrays.copyOf(all, prompted), VOCAB, all.length - prompted);
            assertEquals(joined(tokens, toArray(expected)).length, all.length);
            assertTrue(Arrays.equals(joined(tokens, toArray(expected)), all), () -> Arrays.toString(all));
            assertTrue(cancel || all.length == Math.min(prompted + most, CONTEXT), usage + " of " + most);
            tokens = all;
            running = null;
        }
    }

    private static int[] toArray(List<Integer> tokens) {
        return tokens.stream().mapToInt(Integer::intValue).toArray();
    }

    private static int[] joined(int[] first, int... rest) {
        int[] all = Arrays.copyOf(first, first.length + rest.length);
        System.arraycopy(rest, 0, all, first.length, rest.length);
        return all;
    }

    /// One of few messages, so that chats begin alike; ends as messages do.
    private static int[] message(LoadedModel model, Random random) {
        int which = random.nextInt(3);
        int[] ids = new Random(which).ints(5 + 40 * which, 0, VOCAB).toArray();
        return random.nextBoolean()
                ? ids
                : joined(
                        ids,
                        IntStream.range(0, VOCAB)
                                .filter(model.tokenizer()::isEndOfGeneration)
                                .findFirst()
                                .orElseThrow());
    }

    private void schedule(long seed) {
        Random random = new Random(seed * 0x9E3779B97F4A7C15L); // small seeds begin alike
        device.states = random.nextInt(3) > 0;
        device.window = device.states ? 0 : random.nextInt(40);
        device.windowsBeside = random.nextInt(100);
        device.checkpoints = random.nextInt(6);
        device.chooses = random.nextBoolean();
        int sequences = 1 + random.nextInt(4);
        Map<String, String> settings = new HashMap<>();
        String proposes = List.of("off", "ngram", "mostly", "head").get(random.nextInt(4));
        settings.put("speculate", proposes);
        settings.put("prefix.cache", random.nextInt(8) > 0 ? "on" : "off");
        settings.put("prefix.states.host.mb", Integer.toString(random.nextInt(2)));
        settings.put("prefix.keep.mb", Integer.toString(random.nextInt(8) / 7)); // for the next such schedule
        boolean disk = random.nextBoolean();
        settings.put("prefix.states.disk.mb", disk ? "1" : "0");
        device.checkpoints = disk ? 1 + random.nextInt(2) : device.checkpoints;
        device.restored.set(0);
        LoadedModel model = engine.load(request().toBuilder()
                .maxSequences(random.nextBoolean() ? sequences : 0)
                .contextLength(CONTEXT)
                .maxBatchTokens(4 + random.nextInt(40))
                .settings(settings)
                .build());
        try (model) {
            Chat[] chats = IntStream.range(0, sequences)
                    .mapToObj(i -> new Chat(model, proposes.equals("head")))
                    .toArray(Chat[]::new);
            for (int call = 0; call < CALLS; call++) {
                Chat chat = chats[random.nextInt(sequences)];
                if (chat.running != null) {
                    chat.end(random.nextInt(4) == 0);
                }
                if (random.nextInt(3) == 0) {
                    int length = random.nextBoolean() ? 0 : random.nextInt(chat.tokens.length + 1);
                    chat.session.truncate(length);
                    chat.tokens = Arrays.copyOf(chat.tokens, length);
                }
                int[] prompt = message(model, random);
                if (chat.tokens.length + prompt.length > CONTEXT - 40) {
                    chat.session.truncate(0);
                    chat.tokens = new int[0];
                }
                if (random.nextInt(3) == 0 && Arrays.stream(chats).allMatch(each -> each.running == null)) {
                    registry.remove(device);
                    registry.add(device);
                }
                chat.ask(random, prompt);
                if (random.nextInt(10) == 0) {
                    ((PlacedModel) model).loop().placed().reconsider();
                }
            }
            for (Chat chat : chats) {
                if (chat.running != null) {
                    chat.end(false);
                }
                chat.session.close();
            }
            // One copy is on the host at most.
            fromDisk += disk && settings.get("prefix.states.host.mb").equals("0") ? device.restored.get() : 0;
            SchedulingStatus status = ((ScheduledModel) model).scheduling();
            assertEquals(status.pages(), status.freePages());
            assertEquals(status.windowPages(), status.freeWindowPages());
            assertEquals(0, status.running() + status.waiting());
        } catch (RuntimeException | Error e) {
            throw new AssertionError("schedule " + seed, e);
        }
    }

    private void schedules(int count) {
        int first = Integer.getInteger("tenon.schedules.first", 0);
        for (int seed = first; seed < first + count; seed++) {
            schedule(seed);
        }
        String all = reused + " tokens reused, " + reusedWithWindows + " with windows, " + accepted
                + " proposals right, " + byHead + " of them by the head, " + refused + " wrong, " + device.unknownStates
                + " hidden states not known, " + fromDisk + " states back from disk";
        assertTrue(reused > 5L * count && reusedWithWindows > 5L * count, all);
        assertTrue(accepted > count && refused > count && byHead > count && fromDisk > 0, all);
        assertEquals(List.of(), device.wrongStates);
    }

    @Test
    void textsAreThoseOfEachPromptAlone() {
        schedules(Integer.getInteger("tenon.schedules", 500));
    }

    @Test
    @Tag("long")
    void textsAreThoseOfEachPromptAloneInManySchedules() {
        schedules(Integer.getInteger("tenon.schedules", 10_000));
    }
}
