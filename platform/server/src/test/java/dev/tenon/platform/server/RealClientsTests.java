package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.folder.FolderStore;
import dev.tenon.platform.server.models.ModelSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The clients that people use, from npm. Long because it downloads them; what they need of an answer is tested piece
/// by
/// piece in the other tests.
@Tag("long")
class RealClientsTests {
    private static final int INSTALL_MINUTES = 5;
    private static final int RUN_MINUTES = 5;

    @TempDir
    Path folder;

    @Test
    void clientsOfNpmUnderstandTheServer() throws Exception {
        for (String file : List.of("package.json", "clients.mjs")) {
            Files.copy(Path.of("src/test/clients").resolve(file), folder.resolve(file));
        }
        assumeTrue(
                run(INSTALL_MINUTES, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts") == 0,
                "Skipped: npm is missing, or cannot install the clients.");
        FolderStore store = new FolderStore(
                Files.createDirectory(folder.resolve("models")),
                (name, file) ->
                        ModelSpec.of(name, LoadRequest.builder(file).threads(2).build()),
                null); // nothing is downloaded
        try (ServerFixture server = new ServerFixture(
                b -> b.embeddings(true).keys(ApiKeys.of(List.of("key"))).store(store))) {
            int status = run(RUN_MINUTES, "node", "clients.mjs", server.server.address());
            assertEquals(0, status, this::text);
        }
    }

    private String text() {
        try {
            return Files.readString(folder.resolve("output"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /// {@return the exit status; -1 if the program is not there, or takes too long}
    private int run(int minutes, String... line) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(line)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("output").toFile())
                    .start();
            if (!process.waitFor(minutes, TimeUnit.MINUTES)) {
                process.destroyForcibly().waitFor();
                return -1;
            }
            return process.exitValue();
        } catch (IOException e) {
            return -1; // no such program
        }
    }
}
