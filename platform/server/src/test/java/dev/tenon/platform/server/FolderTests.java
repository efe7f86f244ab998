package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.folder.FolderStore;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A folder of models that requests pull, name and delete. The limit on time ends a hang.
@Timeout(180)
class FolderTests {
    @TempDir
    Path folder;

    private final StubHub hub = new StubHub();

    @AfterEach
    void stopHub() {
        hub.close();
    }

    private FolderStore store() {
        return hub.store(folder);
    }

    private ServerFixture server() {
        return new ServerFixture(b -> b.store(store()));
    }

    private static List<String> names(ServerFixture server) throws Exception {
        JsonNode models = ServerFixture.json(server.get("/api/tags").body()).get("models");
        return StreamSupport.stream(models.spliterator(), false)
                .map(model -> model.get("name").asText())
                .toList();
    }

    private static int delete(ServerFixture server, String name) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(server.uri("/api/delete"))
                .header("Content-Type", "application/json")
                .method("DELETE", HttpRequest.BodyPublishers.ofString("{\"model\":\"" + name + "\"}"));
        return server.send(request).statusCode();
    }

    @Test
    void aModelIsPulledOnceForAllWhoAsk() throws Exception {
        try (ServerFixture server = server()) {
            String ask = "{\"model\":\"" + StubHub.REFERENCE + "\"}";
            CompletableFuture<HttpResponse<String>> first = server.client.sendAsync(
                    server.request("/api/pull", ask).build(), HttpResponse.BodyHandlers.ofString());
            CompletableFuture<HttpResponse<String>> second = server.client.sendAsync(
                    server.request("/api/pull", ask).build(), HttpResponse.BodyHandlers.ofString());
            while (!server.get("/metrics").body().contains("http_connections 3") || hub.downloads.get() < 1) {
                Thread.sleep(20); // both are listening
            }
            hub.gate.countDown();
            for (HttpResponse<String> response : List.of(first.get(), second.get())) {
                assertEquals(200, response.statusCode());
                List<JsonNode> lines =
                        response.body().lines().map(ServerFixture::json).toList();
                assertEquals("success", lines.getLast().get("status").asText(), response::body);
                JsonNode half = lines.stream()
                        .filter(line -> line.has("completed"))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(response.body()));
                assertEquals(Files.size(ServerFixture.MODEL), half.get("total").asLong());
                assertEquals("pulling tiny-Q4_K_M.gguf", half.get("status").asText());
            }
            assertEquals(1, hub.downloads.get());
            assertEquals(List.of("story", "org/tiny-GGUF/tiny-Q4_K_M"), names(server));
            for (String name :
                    List.of(StubHub.REFERENCE, "hf.co/" + StubHub.REFERENCE, "tiny-Q4_K_M", "tiny-Q4_K_M:latest")) {
                server.answer("/v1/completions", "{\"model\":\"" + name + "\",\"prompt\":\"Once\",\"max_tokens\":1}");
            }
            assertEquals(2, server.engine.models().size());
            assertEquals(200, delete(server, StubHub.REFERENCE));
            assertEquals(List.of("story"), names(server));
            try (var left = Files.list(folder)) {
                assertEquals(0, left.count());
            }
        }
    }

    @Test
    void aModelOfARegistryIsPulledAndLoadedByItsName() throws Exception {
        try (ServerFixture server = server()) {
            HttpResponse<String> response = server.post("/api/pull", "{\"model\":\"stub:tiny\",\"stream\":false}");
            assertEquals(200, response.statusCode(), response::body);
            for (String name : List.of("stub:tiny", "stub:tiny:latest", "stub-tiny")) {
                server.answer("/v1/completions", "{\"model\":\"" + name + "\",\"prompt\":\"Once\",\"max_tokens\":1}");
            }
            assertEquals(List.of("story", "stub@3Atiny/stub-tiny"), names(server));
            assertEquals(200, delete(server, "stub:tiny"));
            assertEquals(List.of("story"), names(server));
            response = server.post("/api/pull", "{\"model\":\"other:tiny\",\"stream\":false}");
            assertEquals(400, response.statusCode());
            assertTrue(response.body().contains("no registry 'other'"), response::body);
            response = server.post("/api/pull", "{\"model\":\"other:tiny\"}");
            JsonNode last = ServerFixture.json(response.body().lines().toList().getLast());
            assertTrue(last.get("error").asText().contains("no registry 'other'"), response::body);
        }
    }

    @Test
    void aPullEndsWhenNobodyListens() throws Exception {
        try (ServerFixture server = server()) {
            HttpResponse<java.io.InputStream> response = server.client.send(
                    server.request("/api/pull", "{\"model\":\"" + StubHub.REFERENCE + "\"}")
                            .build(),
                    HttpResponse.BodyHandlers.ofInputStream());
            while (hub.downloads.get() == 0) {
                Thread.sleep(20);
            }
            Path lock = folder.resolve("org/tiny-GGUF/tiny-Q4_K_M.gguf.lock");
            while (!Files.exists(lock)) {
                Thread.sleep(20);
            }
            response.body().close();
            while (Files.exists(lock)) {
                Thread.sleep(20);
            }
            assertEquals(List.of("story"), names(server));
        }
    }

    @Test
    void whatCannotBePulledIsTold() throws Exception {
        try (ServerFixture server = server()) {
            HttpResponse<String> response = server.post("/api/pull", "{\"model\":\"org/none:Q8_0\"}");
            JsonNode last = ServerFixture.json(response.body().lines().toList().getLast());
            assertTrue(last.get("error").asText().contains("org/none"), response::body);
            response = server.post("/api/pull", "{\"model\":\"plain\",\"stream\":false}");
            assertEquals(400, response.statusCode());
            assertTrue(response.body().contains("owner/repo[:quant]"), response::body);
            for (String name : List.of("../../etc/passwd", "http://127.0.0.1/x.gguf", "a b")) {
                response = server.post("/api/pull", "{\"model\":\"" + name + "\",\"stream\":false}");
                assertEquals(400, response.statusCode(), name);
            }
            response = server.post("/api/pull", "{\"model\":\"org/none:Q8_0\",\"stream\":false}");
            assertEquals(500, response.statusCode(), response::body);
            assertEquals(0, hub.downloads.get());
        }
    }

    @Test
    void modelsOfTheCommandLineAndThoseThatAreNotThereAreNotDeleted() throws Exception {
        try (ServerFixture server = server()) {
            assertEquals(400, delete(server, "story"));
            assertEquals(404, delete(server, "none"));
            assertEquals(404, delete(server, "../story"));
            assertTrue(Files.exists(ServerFixture.MODEL));
        }
    }

    private JsonNode show(ServerFixture server, String name) throws Exception {
        return server.answer("/api/show", "{\"model\":\"" + name + "\"}");
    }

    @Test
    void whatIsCreatedAndCopiedIsThereAfterARestart() throws Exception {
        Path file = folder.resolve("tale.gguf");
        Files.copy(ServerFixture.MODEL, file);
        String create = """
                {"model":"bard:v1","from":"tale","stream":false,"system":"Speak of ships.","license":"None.",
                 "parameters":{"temperature":0,"num_predict":3,"num_ctx":256,"stop":["\\n\\n"],"seed":7},
                 "messages":[{"role":"user","content":"Hi."},{"role":"assistant","content":"Ahoy."}]}""";
        String chat = "{\"model\":\"%s\",\"stream\":false,\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}]}";
        int plain;
        try (ServerFixture server = server()) {
            assertEquals(
                    "success",
                    server.answer("/api/create", create).get("status").asText());
            plain = server.answer("/api/chat", chat.formatted("tale"))
                    .get("prompt_eval_count")
                    .asInt();
            assertEquals(
                    200,
                    server.post("/api/copy", "{\"source\":\"bard:v1\",\"destination\":\"a/b/skald:latest\"}")
                            .statusCode());
        }
        try (ServerFixture server = server()) {
            assertEquals(List.of("story", "tale", "a/b/skald", "bard:v1"), names(server));
            for (String name : List.of("bard:v1", "a/b/skald")) {
                JsonNode show = show(server, name);
                assertEquals("Speak of ships.", show.get("system").asText());
                assertEquals("None.", show.get("license").asText());
                assertTrue(show.get("parameters").asText().contains("num_ctx 256"), show::toString);
                assertEquals(2, show.get("messages").size());
                JsonNode answer = server.answer("/api/chat", chat.formatted(name));
                assertEquals(3, answer.get("eval_count").asInt());
                assertTrue(answer.get("prompt_eval_count").asInt() > plain + 5, answer::toString);
                assertEquals(
                        answer.at("/message/content"),
                        server.answer("/api/chat", chat.formatted(name)).at("/message/content"));
            }
            assertEquals(
                    256,
                    ServerFixture.json(server.get("/v1/models/bard:v1").body())
                            .get("max_model_len")
                            .asInt());
            String openai = "{\"model\":\"bard:v1\",\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}]}";
            assertEquals(
                    3,
                    server.answer("/v1/chat/completions", openai)
                            .at("/usage/completion_tokens")
                            .asInt());
            assertEquals(400, delete(server, "tale"), "its file belongs to others, too");
            assertTrue(Files.exists(file));
            assertEquals(200, delete(server, "bard:v1"));
            assertEquals(200, delete(server, "a/b/skald"));
            assertEquals(200, delete(server, "tale"));
            assertFalse(Files.exists(file));
            assertEquals(List.of("story"), names(server));
        }
    }

    @Test
    void parametersThatNobodyKnowsChangeNothingAndAreListed() throws Exception {
        Files.copy(ServerFixture.MODEL, folder.resolve("tale.gguf"));
        try (ServerFixture server = server()) {
            HttpResponse<String> created =
                    server.post("/api/create", "{\"model\":\"x\",\"from\":\"tale\",\"parameters\":{\"colour\":1}}");
            assertEquals(200, created.statusCode(), created::body);
            assertEquals(
                    "parameters.colour",
                    created.headers().firstValue("X-Ignored-Fields").orElse(""));
            assertEquals(List.of("story", "tale", "x"), names(server));
        }
    }

    @Test
    void whatCannotBeCreatedIsRefused() throws Exception {
        Files.copy(ServerFixture.MODEL, folder.resolve("tale.gguf"));
        try (ServerFixture server = server()) {
            for (String rest : List.of(
                    "\"from\":\"tale\",\"template\":\"{{ .Prompt }}\"",
                    "\"from\":\"tale\",\"parameters\":{\"temperature\":-1}",
                    "\"from\":\"tale\",\"adapters\":{}",
                    "\"system\":\"x\"")) {
                HttpResponse<String> response = server.post("/api/create", "{\"model\":\"x\"," + rest + "}");
                assertEquals(400, response.statusCode(), rest);
                assertTrue(ServerFixture.json(response.body()).get("error").isTextual());
            }
            assertEquals(
                    404,
                    server.post("/api/create", "{\"model\":\"x\",\"from\":\"../tale\"}")
                            .statusCode());
            for (String name : List.of("tale", "story", "../x", "a b")) {
                assertEquals(
                        400,
                        server.post("/api/copy", "{\"source\":\"tale\",\"destination\":\"" + name + "\"}")
                                .statusCode(),
                        name);
            }
            assertEquals(List.of("story", "tale"), names(server));
            Files.writeString(folder.resolve("broken.model"), "{");
            assertEquals(List.of("story", "tale"), names(server), "one that cannot be read hides no other");
        }
    }

    @Test
    void nothingOutsideTheFolderAndNoFileOfTheCommandLineIsDeleted(@TempDir Path outside) throws Exception {
        Path file = Files.copy(ServerFixture.MODEL, outside.resolve("far.gguf"));
        Files.createSymbolicLink(folder.resolve("link.gguf"), file);
        Files.createSymbolicLink(folder.resolve("folder"), outside);
        Path pinned = Files.copy(ServerFixture.MODEL, folder.resolve("tale.gguf"));
        LoadRequest request = LoadRequest.builder(pinned).threads(2).build();
        try (ServerFixture server = new ServerFixture(b -> b.store(store()).model("mine", request))) {
            assertEquals(List.of("story", "mine", "link", "tale"), names(server));
            assertEquals(200, delete(server, "link"));
            assertEquals(404, delete(server, "folder/far"));
            assertTrue(Files.exists(file), "the link went, not what it leads to");
            assertEquals(400, delete(server, "tale"));
            assertTrue(Files.exists(pinned));
        }
    }

    @Test
    void managementNeedsAKeyWhereThereAreKeys() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.store(store()).keys(ApiKeys.of(List.of("key"))))) {
            for (String path : List.of("/api/pull", "/models/load", "/models/unload")) {
                assertEquals(401, server.post(path, "{\"model\":\"story\"}").statusCode(), path);
            }
            assertEquals(401, delete(server, "story"));
            assertFalse(server.get("/api/tags").body().contains("story"));
        }
    }
}
