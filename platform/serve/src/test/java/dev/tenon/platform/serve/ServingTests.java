package dev.tenon.platform.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.server.HandOver;
import dev.tenon.platform.server.TenonServer;
import dev.tenon.platform.server.auth.ApiKeys;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Settings and files change while the server runs. The limit on time ends a hang.
@Timeout(120)
class ServingTests {
    static final Path MODEL = Path.of("../launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");

    private static final Serving.DrainTimes TIMES = new Serving.DrainTimes(Duration.ZERO, Duration.ofSeconds(20));

    @TempDir
    Path folder;

    private final HttpClient client = HttpClient.newHttpClient();

    /// {@return the status of an answer, each time over a new connection}
    private int status(String address, String key) throws Exception {
        try (HttpClient once = HttpClient.newHttpClient()) {
            return once.send(
                            HttpRequest.newBuilder(URI.create(address + "/v1/models"))
                                    .header("Authorization", "Bearer " + key)
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .statusCode();
        }
    }

    @Test
    void keysSettingsAndModelsChangeWhileItRunsAndBadOnesAreRefused() throws Exception {
        Path keys = Files.writeString(folder.resolve("keys.txt"), "first\n");
        AtomicReference<String> name = new AtomicReference<>("story");
        AtomicInteger read = new AtomicInteger();
        try (Engine engine = StandaloneEngine.create(Map.of())) {
            Serving serving = new Serving(
                    () -> {
                        read.incrementAndGet();
                        return TenonServer.builder(engine)
                                .port(0)
                                .context(256)
                                .keys(ApiKeys.read(keys))
                                .model(name.get(), LoadRequest.of(MODEL));
                    },
                    () -> TIMES,
                    () -> List.of(keys));
            String address = serving.start(() -> null);
            CompletableFuture<Void> end = CompletableFuture.runAsync(() -> {
                try {
                    serving.run();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            assertEquals(200, status(address, "first"));
            assertEquals(401, status(address, "second-key"));

            Files.writeString(keys, "second-key\n");
            while (status(address, "second-key") != 200) {
                assertTrue(!end.isDone());
            }
            assertEquals(401, status(address, "first"));

            int before = read.get();
            Files.writeString(keys, "# none\n");
            while (read.get() == before) {
                assertTrue(!end.isDone());
            }
            assertEquals(200, status(address, "second-key"), "the keys before stay");
            Files.writeString(keys, "second-key\n");

            name.set("tale");
            serving.reload();
            while (!models(address).contains("\"tale\"")) {
                assertTrue(!end.isDone());
            }
            assertTrue(!models(address).contains("\"story\""));

            Serving next = new Serving(
                    () -> TenonServer.builder(engine).port(0).context(256).model("story", LoadRequest.of(MODEL)),
                    () -> TIMES,
                    List::of);
            assertEquals(
                    address, next.start(() -> HandOver.of(serving.handOver().parts())));
            serving.leave(true);
            end.get();
            assertEquals(200, status(address, "any"));
            next.end(false);
            next.run();
        }
    }

    private String models(String address) throws Exception {
        return client.send(
                        HttpRequest.newBuilder(URI.create(address + "/v1/models"))
                                .header("Authorization", "Bearer second-key")
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
