package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.settings.EngineConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// States of a device that has room for one: a second one is on the host, others on disk.
class SpilledStatesTests extends GenerationFixture {
    @TempDir
    Path folder;

    @BeforeEach
    void oneStateOnTheDevice() {
        device.states = true;
        device.checkpoints = 1;
        device.slotBytes = 1 << 20;
        engine.configure(EngineConfig.of(Map.of("prefix.folder", folder.toString()), Map.of()));
    }

    private LoadedModel model(String hostMebibytes, String diskMebibytes) {
        return engine.load(request().toBuilder()
                .contextLength(256)
                .maxBatchTokens(64)
                .settings(Map.of("prefix.states.host.mb", hostMebibytes, "prefix.states.disk.mb", diskMebibytes))
                .build());
    }

    /// Runs a prompt of 50 tokens, which leaves a state after 48, and checks the reply.
    ///
    /// @return how many of its tokens were there
    private static int cached(LoadedModel model, int seed, String group) {
        int[] prompt = new Random(seed).ints(50, 0, VOCAB).toArray();
        List<Integer> tokens = new ArrayList<>();
        try (Session session = model.newSession()) {
            Usage usage = session.generate(
                    GenerationRequest.builder()
                            .prompt(prompt)
                            .sampling(SamplingParams.greedy())
                            .maxNewTokens(1)
                            .ignoreEndOfGeneration(true)
                            .group(group)
                            .build(),
                    GenerationListener.ofTokens(token -> tokens.add(token.id())));
            assertEquals(FakeBackend.expected(prompt, VOCAB, 1), tokens);
            assertEquals(50, usage.cachedTokens() + usage.promptTokens());
            return usage.cachedTokens();
        }
    }

    @Test
    void whatTheHostHasNoRoomForComesBackFromDisk() {
        for (String host : List.of("0", "1")) { // one is on the host in any case
            try (LoadedModel model = model(host, "2")) {
                for (int seed = 1; seed <= 3; seed++) {
                    assertEquals(0, cached(model, seed, ""));
                }
                // No more, since a third one may come before the first is written, and is not kept then.
                assertEquals(48, cached(model, 1, ""));
                assertEquals(48, cached(model, 1, ""));
                assertEquals(0, cached(model, 1, "another"));
            }
        }
    }

    @Test
    void whatWasUsedLeastRecentlyIsNotThere() {
        try (LoadedModel model = model("1", "1")) {
            for (int seed = 1; seed <= 4; seed++) {
                assertEquals(0, cached(model, seed, ""));
            }
            assertEquals(48, cached(model, 2, "")); // from disk
            assertEquals(0, cached(model, 1, ""));
        }
    }

    @Test
    void withoutTheFileItRunsAgain() {
        try (LoadedModel model = model("1", "0")) {
            for (int seed = 1; seed <= 3; seed++) {
                assertEquals(0, cached(model, seed, ""));
            }
            assertEquals(0, cached(model, 1, ""));
            assertEquals(48, cached(model, 3, ""));
        }
    }

    @Test
    void aFolderThatCannotBeMadeCostsTheStatesOnly() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        engine.configure(EngineConfig.of(Map.of("prefix.folder", file.toString()), Map.of()));
        try (LoadedModel model = model("1", "8")) {
            for (int round = 0; round < 3; round++) {
                for (int seed = 1; seed <= 9; seed++) {
                    cached(model, seed, "");
                }
            }
            cached(model, 9, "");
            assertEquals(48, cached(model, 9, ""));
        }
    }
}
