package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.server.models.ModelSpec;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The file of a served model is cut short and then replaced by a whole one. The limit on time ends a hang.
@Timeout(120)
class BrokenFileTests {
    private static final String ASK = "{\"model\":\"own\",\"prompt\":\"Once\",\"max_tokens\":2}";
    private static final String LOAD = "{\"model\":\"own\"}";

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void copy() throws IOException {
        file = Files.copy(ServerFixture.MODEL, folder.resolve("own.gguf"));
    }

    private LoadRequest request() {
        return LoadRequest.builder(file).threads(1).build();
    }

    private void cut() throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() / 2);
        }
    }

    private void replace() throws IOException {
        Path whole = Files.copy(ServerFixture.MODEL, folder.resolve("whole"));
        Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void awaitReady(ServerFixture server) throws Exception {
        while (server.get("/readyz").statusCode() != 200) {
            Thread.sleep(20);
        }
    }

    @Test
    void aServerIsNotReadyUntilTheFileIsWholeAndThenLoadsItByItself() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.model("own", request()))) {
            server.answer("/v1/completions", ASK);
            assertEquals(200, server.get("/readyz").statusCode());
            cut();
            assertEquals(503, server.get("/readyz").statusCode());
            String message =
                    server.error(500, "/v1/completions", ASK).get("message").asText();
            assertTrue(message.contains("own.gguf") && message.contains("GGUF-"), message);
            assertEquals(503, server.get("/readyz").statusCode());
            assertEquals(
                    200,
                    server.post("/v1/completions", ASK.replace("own", "story")).statusCode());
            replace();
            awaitReady(server); // nobody asks for the model
            server.answer("/v1/completions", ASK);
            assertEquals(2, server.engine.models().size(), "the one of the broken file was closed");
        }
    }

    @Test
    void aFileThatIsReplacedBeforeAnyoneAsksIsLoadedByTheNextRequest() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.models(() -> List.of(ModelSpec.of("own", request()))))) {
            server.answer("/v1/completions", ASK);
            cut();
            assertEquals(200, server.get("/readyz").statusCode(), "a model that need not be loaded");
            server.error(500, "/v1/completions", ASK);
            replace();
            server.answer("/v1/completions", ASK);
        }
    }

    @Test
    void loadingABrokenModelFailsAndLoadingAWholeOneLoadsIt() throws Exception {
        try (ServerFixture server =
                new ServerFixture(b -> b.model("own", request()).manage(true))) {
            cut();
            server.error(500, "/v1/models/load", LOAD);
            replace();
            assertTrue(server.answer("/v1/models/load", LOAD).get("loaded").asBoolean());
            server.answer("/v1/completions", ASK);
        }
    }

    /// Replies that run when the file is cut fail; the next request waits for the last of them.
    @Test
    void theNextRequestWaitsForRepliesThatStillHaveTheBrokenModel() throws Exception {
        try (ServerFixture server =
                new ServerFixture(b -> b.model("own", request()).parallel(2))) {
            String tale = ASK.replace("\"max_tokens\":2", "\"max_tokens\":100000,\"ignore_eos\":true,\"stream\":true");
            var stream = server.client.send(
                    server.request("/v1/completions", tale).build(),
                    java.net.http.HttpResponse.BodyHandlers.ofInputStream());
            assertTrue(stream.body().read() >= 0, "it has begun");
            cut();
            replace();
            server.answer("/v1/completions", ASK);
            stream.body().close();
            awaitReady(server);
        }
    }
}
