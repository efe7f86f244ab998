package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.platform.server.auth.ApiKeys;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The page in a real browser. Long because it downloads what drives the browser.
@Tag("long")
class BrowserTests {
    @TempDir
    Path folder;

    private static Optional<Path> chromium() {
        return Stream.of(System.getenv("PATH").split(":"))
                .flatMap(path -> Stream.of("chromium", "chromium-browser", "google-chrome")
                        .map(Path.of(path)::resolve))
                .filter(Files::isExecutable)
                .findFirst();
    }

    @Test
    void peopleChatThroughThePage(@TempDir Path models) throws Exception {
        Optional<Path> browser = chromium();
        assumeTrue(browser.isPresent(), "Skipped: there is no Chromium in PATH.");
        ClientProgram program = new ClientProgram(folder);
        program.install(
                Path.of("src/test/page"),
                "package.json",
                "page.mjs",
                "browser.mjs",
                "answers.mjs",
                "lasting.mjs",
                "access.mjs");
        Path axe = folder.resolve("axe.min.js");
        try (InputStream in = ClassLoader.getSystemResourceAsStream("axe.min.js")) {
            Files.copy(in, axe);
        }
        StubBundles bundles = new StubBundles();
        try (StubHub hub = new StubHub();
                ServerFixture server = new ServerFixture(b -> b.keys(ApiKeys.of(List.of("key")))
                        .bundles(() -> bundles)
                        .store(hub.store(models)))) {
            hub.gate.countDown();
            int status = program.run(
                    "node", "page.mjs", server.server.address(), browser.get().toString(), axe.toString());
            assertEquals(0, status, program::output);
            assertEquals(List.of("install", "remove", "why", "why", "why", "why"), bundles.commands());
            assertEquals(1, hub.downloads.get());
            try (Stream<Path> left = Files.walk(models)) {
                assertEquals(List.of(models), left.toList());
            }
        }
    }
}
