package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.settings.EngineConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Prefixes that outlive their model, on a backend that adds up what stands in its pages and states.
class KeptPrefixesTests extends GenerationFixture {
    private static final int REPLY = 5;

    @TempDir
    Path home;

    private Path folder;

    @BeforeEach
    void configure() {
        folder = home.resolve("prefixes");
        device.checkpoints = 8;
        engine.configure(EngineConfig.of(Map.of("prefix.folder", folder.toString()), Map.of()));
    }

    private LoadedModel model(int context, Map<String, String> settings) {
        return engine.load(request().toBuilder()
                .contextLength(context)
                .maxBatchTokens(16)
                .settings(settings)
                .build());
    }

    private LoadedModel model() {
        return model(256, Map.of("prefix.keep.mb", "1"));
    }

    private static int[] prompt(int length, int seed) {
        return new Random(seed).ints(length, 0, VOCAB).toArray();
    }

    private static int[] joined(int[] first, int... rest) {
        int[] all = Arrays.copyOf(first, first.length + rest.length);
        System.arraycopy(rest, 0, all, first.length, rest.length);
        return all;
    }

    /// Generates, and checks the reply.
    ///
    /// @return how many tokens of the prompt were there
    private static int cached(LoadedModel model, String group, int... prompt) {
        List<Integer> tokens = new ArrayList<>();
        try (Session session = model.newSession()) {
            Usage usage = session.generate(
                    GenerationRequest.builder()
                            .prompt(prompt)
                            .sampling(SamplingParams.greedy())
                            .maxNewTokens(REPLY)
                            .ignoreEndOfGeneration(true)
                            .group(group)
                            .build(),
                    GenerationListener.ofTokens(token -> tokens.add(token.id())));
            assertEquals(FakeBackend.expected(prompt, VOCAB, REPLY), tokens);
            assertEquals(prompt.length, usage.cachedTokens() + usage.promptTokens());
            return usage.cachedTokens();
        }
    }

    private List<Path> files() throws IOException {
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(folder)) {
            return all.toList();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aModelThatIsLoadedAgainGoesOnFromThem(boolean states) {
        device.states = states;
        int[] prompt = prompt(50, 1);
        int[] chat = joined(joined(prompt, 7, 7), prompt(20, 2));
        try (LoadedModel model = model()) {
            assertEquals(0, cached(model, "a", prompt));
            assertEquals(48, cached(model, "a", chat));
            assertEquals(0, cached(model, "b", prompt));
        }
        for (int round = 0; round < 2; round++) {
            try (LoadedModel model = model()) {
                assertEquals(48, cached(model, "a", prompt));
                assertEquals(68, cached(model, "a", chat));
                assertEquals(48, cached(model, "b", prompt));
                assertEquals(round == 0 ? 0 : 48, cached(model, "c", prompt));
                assertEquals(round == 0 ? 48 : 72, cached(model, "b", joined(chat, 1, 1)));
            }
        }
    }

    private static int[] withReply(int[] prompt, int... next) {
        int[] reply = FakeBackend.expected(prompt, VOCAB, REPLY).stream()
                .mapToInt(i -> i)
                .toArray();
        return joined(joined(prompt, reply), next);
    }

    /// The next turn of a chat goes on where all pages of the window are there, which are kept with its last page.
    @Test
    void theWindowIsKeptToo() {
        device.window = 20;
        device.windowsBeside = 400;
        int[] first = prompt(50, 1);
        int[] second = withReply(first, prompt(20, 2));
        try (LoadedModel model = model()) {
            assertEquals(0, cached(model, "a", first));
            assertEquals(52, cached(model, "a", second));
            assertEquals(0, cached(model, "b", first));
        }
        try (LoadedModel model = model()) {
            assertEquals(76, cached(model, "a", withReply(second, 1, 2)));
            assertEquals(52, cached(model, "b", second));
        }
    }

    @Test
    void pagesThatPrefixesShareAreKeptOnce() throws IOException {
        int[] common = prompt(200, 1);
        try (LoadedModel model = model()) {
            cached(model, "", common);
        }
        long one = Files.size(files().getFirst());
        try (LoadedModel model = model()) {
            for (int i = 0; i < 3; i++) {
                assertEquals(200, cached(model, "", joined(common, i, i, i)));
            }
        }
        // Of each: marks, counts, sums and the digest; the layout; tokens; one page of its own.
        int layout = "pages of 4 in 16: fake pages of device".length();
        assertEquals(one + 3 * (111 + layout + 204 * 4 + 16), Files.size(files().getFirst()));
        try (LoadedModel model = model()) {
            for (int i = 0; i < 3; i++) {
                int[] prompt = joined(common, i, i, i);
                int next = FakeBackend.expected(prompt, VOCAB, 1).getFirst();
                assertEquals(204, cached(model, "", joined(prompt, next, 9)));
            }
        }
    }

    @Test
    void whatWasUsedLeastRecentlyIsLeftOut() {
        device.states = true;
        device.slotBytes = 300 << 10; // three of them, and few pages
        try (LoadedModel model = model()) {
            for (int seed = 1; seed <= 4; seed++) {
                cached(model, "", prompt(50, seed));
            }
        }
        try (LoadedModel model = model()) {
            assertEquals(0, cached(model, "", prompt(50, 1)));
            assertEquals(48, cached(model, "", prompt(50, 4)));
        }
    }

    @Test
    void withoutTheSettingNothingIsWritten() throws IOException {
        for (Map<String, String> settings :
                List.of(Map.<String, String>of(), Map.of("prefix.keep.mb", "1", "prefix.cache", "off"))) {
            try (LoadedModel model = model(256, settings)) {
                cached(model, "", prompt(50, 1));
            }
            assertEquals(List.of(), files());
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void theOwnerAloneReadsThem() throws IOException {
        try (LoadedModel model = model()) {
            cached(model, "", prompt(50, 1));
        }
        assertEquals(1, files().size());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(files().getFirst())));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)));
    }

    @Test
    void anotherContextCacheOrBackendTakesNone() {
        int[] prompt = prompt(50, 1);
        try (LoadedModel model = model()) {
            cached(model, "", prompt);
        }
        device.states = true;
        try (LoadedModel model = model()) {
            assertEquals(0, cached(model, "", prompt));
        }
        device.states = false;
        try (LoadedModel model = model(40, Map.of("prefix.keep.mb", "1"))) {
            assertEquals(0, cached(model, "", prompt(20, 2)));
        }
        try (LoadedModel model = model()) {
            assertEquals(0, cached(model, "", prompt)); // the file is that of the model before
            assertEquals(16, cached(model, "", prompt(20, 2)));
        }
    }

    @Test
    void moreThanTheCacheHasRoomForIsNoFailure() {
        try (LoadedModel model = model(256, Map.of("prefix.keep.mb", "1"))) {
            for (int seed = 1; seed <= 4; seed++) {
                cached(model, "", prompt(240, seed));
            }
        }
        try (LoadedModel model = engine.load(request().toBuilder()
                .contextLength(256)
                .maxSequences(1)
                .settings(Map.of("prefix.keep.mb", "1"))
                .build())) {
            assertEquals(236, cached(model, "", prompt(240, 4)));
            assertEquals(0, cached(model, "", prompt(240, 1)));
        }
    }

    /// Whatever is changed in the file or is missing of it, no token is wrong, and no group gets what is another's.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aChangedFileIsLeftOut(boolean states) throws IOException {
        device.states = states;
        try (LoadedModel model = model()) {
            cached(model, "a", prompt(20, 1));
            cached(model, "b", prompt(20, 2));
        }
        Path file = files().getFirst();
        byte[] bytes = Files.readAllBytes(file);
        int taken = 0;
        int head = 8 + 4 + 2 + 64; // then come a mark, the first group and its pages that are left out
        for (int i = states ? 1 : 0; i < bytes.length; i += i >= head && i < head + 8 ? 1 : 20) {
            byte[] flipped = bytes.clone();
            flipped[i] ^= (byte) (1 << i % 8);
            for (byte[] changed : List.of(flipped, Arrays.copyOf(bytes, i))) {
                Files.write(file, changed);
                try (LoadedModel model = model()) {
                    assertEquals(0, cached(model, "b", prompt(20, 1)));
                    int both = cached(model, "a", prompt(20, 1)) + cached(model, "b", prompt(20, 2));
                    // The prefix before the changed one may be used.
                    assertTrue(both <= (i < bytes.length - 1 ? 16 : 32), "byte " + i + ": " + both);
                    taken += both;
                }
            }
        }
        assertTrue(taken > 0);
    }

    @Test
    void filesOfModelsThatWereNotLoadedForLongGo() throws IOException {
        Files.createDirectories(folder);
        for (int i = 0; i < 9; i++) {
            Path old = Files.createFile(folder.resolve("old" + i + ".prefixes"));
            assertTrue(old.toFile().setLastModified(1_000_000_000_000L + i * 1000));
        }
        try (LoadedModel model = model()) {
            cached(model, "", prompt(50, 1));
        }
        assertEquals(8, files().size());
        assertFalse(files().contains(folder.resolve("old1.prefixes")));
        assertTrue(files().contains(folder.resolve("old2.prefixes")));
    }

    @Test
    void aFolderThatCannotBeMadeIsNoFailure() throws IOException {
        Path file = Files.createFile(home.resolve("file"));
        engine.configure(EngineConfig.of(Map.of("prefix.folder", file.toString()), Map.of()));
        for (int i = 0; i < 2; i++) {
            try (LoadedModel model = model()) {
                assertEquals(0, cached(model, "", prompt(50, 1)));
            }
        }
    }
}
