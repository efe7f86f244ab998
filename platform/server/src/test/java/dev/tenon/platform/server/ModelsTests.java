package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.server.models.ModelSpec;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Models that are loaded when they are asked for. The limit on time ends a hang.
@Timeout(120)
class ModelsTests {
    private static final String ASK =
            "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}],\"max_tokens\":2}";

    private static List<ModelSpec> two() {
        return Stream.of("one", "two").map(ModelsTests::spec).toList();
    }

    private static List<String> loaded(ServerFixture server) throws Exception {
        JsonNode data = ServerFixture.json(server.get("/v1/models").body()).get("data");
        return Stream.iterate(0, i -> i < data.size(), i -> i + 1)
                .map(data::get)
                .filter(model -> model.get("loaded").asBoolean())
                .map(model -> model.get("id").asText())
                .toList();
    }

    @Test
    void aModelIsLoadedWhenItIsAskedForAndUnloadedAfterItsTime() throws Exception {
        try (ServerFixture server =
                new ServerFixture(b -> b.models(ModelsTests::two).keepAlive(Duration.ofMillis(200)))) {
            assertEquals(List.of("story"), loaded(server));
            assertEquals(
                    "one",
                    server.answer("/v1/chat/completions", ASK.formatted("one"))
                            .get("model")
                            .asText());
            while (!loaded(server).equals(List.of("story"))) {
                Thread.sleep(20);
            }
            assertEquals(
                    200,
                    server.post("/v1/chat/completions", ASK.formatted("one")).statusCode());
        }
    }

    /// {@return the memory that the story model takes, in bytes}
    private static long taken() throws Exception {
        try (ServerFixture server = new ServerFixture()) {
            long bytes = model(server, "story").get("memory").asLong();
            assertTrue(bytes > Files.size(ServerFixture.MODEL), "weights, cache and work memory: " + bytes);
            return bytes;
        }
    }

    private static JsonNode model(ServerFixture server, String name) throws Exception {
        return ServerFixture.json(server.get("/v1/models/" + name).body());
    }

    @Test
    void whatWasNotAskedForTheLongestMakesRoom() throws Exception {
        long taken = taken();
        try (ServerFixture server =
                new ServerFixture(b -> b.models(ModelsTests::two).modelMemory(2 * taken))) {
            server.answer("/v1/chat/completions", ASK.formatted("one"));
            assertEquals(List.of("story", "one"), loaded(server));
            server.answer("/v1/chat/completions", ASK.formatted("two"));
            assertEquals(List.of("story", "two"), loaded(server));
        }
    }

    @Test
    void aModelThatCannotFitIsRefusedWithNumbers() throws Exception {
        long taken = taken();
        try (ServerFixture server =
                new ServerFixture(b -> b.models(ModelsTests::two).modelMemory(2 * taken - 1))) {
            String message = server.error(500, "/v1/chat/completions", ASK.formatted("one"))
                    .get("message")
                    .asText();
            String mebibytes = ((taken + (1 << 20) - 1) >> 20) + " MiB";
            assertTrue(message.startsWith("one needs " + mebibytes), message);
            assertTrue(message.contains("models that stay loaded take " + mebibytes + " of "), message);
            assertEquals(List.of("story"), loaded(server));
            assertEquals(1, server.engine.models().size(), "what did not fit was closed");
        }
    }

    @Test
    void aModelThatAnswersIsNotUnloadedForAnotherOneWhichWaits() throws Exception {
        long taken = taken();
        try (ServerFixture server =
                new ServerFixture(b -> b.models(ModelsTests::two).modelMemory(2 * taken))) {
            HttpResponse<InputStream> running = server.client.send(
                    server.request(
                                    "/v1/chat/completions",
                                    "{\"model\":\"one\",\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}],"
                                            + "\"stream\":true,\"ignore_eos\":true}")
                            .build(),
                    HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream body = running.body()) {
                assertTrue(body.read() >= 0, "it answers");
                assertTrue(server.post("/models/unload", "{\"model\":\"one\"}")
                        .body()
                        .contains("\"loaded\":true"));
                server.answer("/v1/chat/completions", ASK.formatted("two"));
                assertTrue(new String(body.readAllBytes(), StandardCharsets.UTF_8).contains("[DONE]"));
            }
            while (loaded(server).contains("one")) {
                Thread.sleep(20); // it was to be unloaded with the end of its request
            }
        }
    }

    @Test
    void modelsAreLoadedAndUnloadedByRequests() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.models(ModelsTests::two))) {
            server.answer("/models/load", "{\"model\":\"two\",\"keep_alive\":-1}");
            assertEquals(List.of("story", "two"), loaded(server));
            assertFalse(model(server, "two").has("expires_at"));
            server.answer("/models/load", "{\"model\":\"one\",\"keep_alive\":\"1h\"}");
            assertTrue(model(server, "one").get("expires_at").asLong()
                    > Instant.now().getEpochSecond() + 3500);
            for (String name : List.of("one", "two", "story")) {
                assertFalse(server.answer("/models/unload", "{\"model\":\"" + name + "\"}")
                        .get("loaded")
                        .asBoolean());
            }
            assertEquals(List.of(), loaded(server));
            server.answer("/v1/chat/completions", ASK.formatted("story"));
            assertEquals(List.of("story"), loaded(server));
            assertEquals(
                    "keep_alive",
                    server.error(400, "/models/load", "{\"model\":\"one\",\"keep_alive\":\"soon\"}")
                            .get("param")
                            .asText());
            assertEquals(
                    404, server.post("/models/load", "{\"model\":\"three\"}").statusCode());
        }
    }

    @Test
    void modelsAreNotChangedByRequestsWhereThatIsSwitchedOff() throws Exception {
        try (ServerFixture server =
                new ServerFixture(b -> b.models(ModelsTests::two).manage(false))) {
            for (String path : List.of("/models/load", "/models/unload", "/api/pull")) {
                assertEquals(403, server.post(path, "{\"model\":\"one\"}").statusCode(), path);
            }
        }
        try (ServerFixture server =
                new ServerFixture(b -> b.host("0.0.0.0").withoutKey(true).models(ModelsTests::two))) {
            HttpRequest.Builder request = HttpRequest.newBuilder(
                            URI.create("http://127.0.0.1:" + server.server.port() + "/models/load"))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"model\":\"one\"}"));
            assertEquals(403, server.send(request).statusCode(), "others reach it, and there is no key");
        }
    }

    @Test
    void aModelHasAliases() throws Exception {
        ModelSpec spec = new ModelSpec(
                "long-name", List.of("short", "gpt-4o"), LoadRequest.of(ServerFixture.MODEL), SamplingParams.greedy());
        try (ServerFixture server = new ServerFixture(b -> b.model(spec))) {
            assertEquals(
                    "long-name",
                    server.answer("/v1/chat/completions", ASK.formatted("gpt-4o"))
                            .get("model")
                            .asText());
            assertEquals(200, server.get("/v1/models/short").statusCode());
        }
    }

    @Test
    void twoRequestsForOneModelLoadItOnce() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.models(ModelsTests::two))) {
            Thread other = Thread.startVirtualThread(() -> {
                try {
                    server.answer("/v1/chat/completions", ASK.formatted("one"));
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            server.answer("/v1/chat/completions", ASK.formatted("one"));
            other.join();
            assertEquals(2, server.engine.models().size());
            assertTrue(loaded(server).contains("one"));
            assertFalse(loaded(server).contains("two"));
        }
    }

    /// Each of three models is asked for by two clients, where two fit besides the one that stays.
    @Test
    void modelsTakeTurnsUnderLoad() throws Exception {
        long taken = taken();
        List<String> names = List.of("one", "two", "three");
        try (ServerFixture server = new ServerFixture(b -> b.models(
                                () -> names.stream().map(ModelsTests::spec).toList())
                        .modelMemory(3 * taken));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> answered = new ArrayList<>();
            for (int client = 0; client < 6; client++) {
                String name = names.get(client % 3);
                answered.add(threads.submit(() -> {
                    int answers = 0;
                    for (int i = 0; i < 8; i++) {
                        server.answer("/v1/chat/completions", ASK.formatted(name));
                        answers++;
                    }
                    return answers;
                }));
            }
            int answers = 0;
            for (Future<Integer> client : answered) {
                answers += client.get();
            }
            assertEquals(48, answers);
            assertTrue(server.engine.models().size() <= 3, "no more are loaded than fit");
            assertEquals(
                    loaded(server).size(), server.engine.models().size(), "each loaded one is known to the server");
        }
    }

    private static ModelSpec spec(String name) {
        return ModelSpec.of(
                name, LoadRequest.builder(ServerFixture.MODEL).threads(2).build());
    }
}
