package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.http.HttpLimits;
import dev.tenon.platform.server.models.ModelSpec;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What a careful server does with strangers. The limit on time ends a hang.
@Timeout(120)
class SecurityTests {
    private static final String PATH = "/v1/chat/completions";
    private static final String SHORT =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}],\"max_tokens\":2%s}";
    private static final HttpLimits LIMITS = HttpLimits.defaults()
            .withBodyBytes(64 << 10, 128 << 10)
            .withConnectionsPerAddress(24)
            .withTimes(Duration.ofMillis(300), Duration.ofSeconds(20), Duration.ofSeconds(15));

    private static ServerFixture server;

    @BeforeAll
    static void start() {
        server = new ServerFixture(b -> b.keys(ApiKeys.of(List.of("first-key", "second-key")))
                .origins(List.of("https://app.example"))
                .limits(LIMITS));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static HttpResponse<String> withKey(HttpRequest.Builder request) throws Exception {
        return server.send(request.header("Authorization", "Bearer first-key"));
    }

    private static HttpResponse<String> post(String body) throws Exception {
        return withKey(server.request(PATH, body));
    }

    private static String code(HttpResponse<String> response) {
        return ServerFixture.json(response.body()).at("/error/code").asText();
    }

    /// {@return what a server answers to bytes, to the end of the connection}
    private static String raw(String request) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", server.server.port())) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void itListensAtLoopbackAndElsewhereWithKeysOnly() {
        assertTrue(server.server.address().startsWith("http://127.0.0.1:"));
        ServerBuilder open = TenonServer.builder(server.engine).port(0).host("0.0.0.0");
        assertTrue(assertThrows(TenonException.class, open::start).getMessage().contains("--api-key-file"));
        open.withoutKey(true).start().close();
        open.withoutKey(false).keys(ApiKeys.of(List.of("k"))).start().close();
    }

    @Test
    void aKeyIsNeededForAllButHealth() throws Exception {
        for (String path : List.of("/health", "/v1/health", "/livez", "/ready", "/readyz")) {
            assertEquals(200, server.get(path).statusCode(), path);
        }
        for (String path : List.of("/v1/models", "/metrics", "/nothing")) {
            assertEquals(401, server.get(path).statusCode(), path);
        }
        HttpResponse<String> refused = server.post(PATH, SHORT.formatted(""));
        assertEquals(401, refused.statusCode());
        assertEquals(
                "authentication_error",
                ServerFixture.json(refused.body()).at("/error/type").asText());
        assertEquals(
                401,
                server.send(server.request(PATH, SHORT.formatted("")).header("Authorization", "Bearer first-kez"))
                        .statusCode());
        assertEquals(200, post(SHORT.formatted("")).statusCode());
        assertEquals(
                200,
                server.send(server.request(PATH, SHORT.formatted("")).header("X-Api-Key", "second-key"))
                        .statusCode());
    }

    @Test
    void keysHaveNamesThatDoNotTellThem() {
        ApiKeys keys = ApiKeys.of(List.of("a", "b"));
        assertFalse(keys.nameOf("a").orElseThrow().equals(keys.nameOf("b").orElseThrow()));
        assertTrue(keys.nameOf("c").isEmpty());
        assertTrue(keys.nameOf(null).isEmpty());
    }

    @Test
    void anotherHostNameIsRefused() throws Exception {
        String answer = raw("GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
        assertTrue(answer.startsWith("HTTP/1.1 403"), answer);
        String own = raw("GET /health HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n\r\n");
        assertTrue(own.startsWith("HTTP/1.1 200"), own);
    }

    @Test
    void pagesOfOtherOriginsAreNotLetIn() throws Exception {
        HttpResponse<String> stranger =
                withKey(HttpRequest.newBuilder(server.uri("/v1/models")).header("Origin", "https://evil.example"));
        assertTrue(stranger.headers().firstValue("Access-Control-Allow-Origin").isEmpty());
        HttpResponse<String> known = server.send(HttpRequest.newBuilder(server.uri(PATH))
                .header("Origin", "https://app.example")
                .header("Access-Control-Request-Headers", "anthropic-version,x-api-key")
                .method("OPTIONS", HttpRequest.BodyPublishers.noBody()));
        assertEquals(204, known.statusCode());
        assertEquals(
                "https://app.example",
                known.headers().firstValue("Access-Control-Allow-Origin").orElseThrow());
        assertEquals(
                "anthropic-version,x-api-key",
                known.headers().firstValue("Access-Control-Allow-Headers").orElseThrow());
        assertTrue(
                known.headers().firstValue("Access-Control-Allow-Credentials").isEmpty());
    }

    @Test
    void bodiesAreJsonWhateverTheyAreCalled() throws Exception {
        HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString(SHORT.formatted(""));
        assertEquals(
                200,
                withKey(HttpRequest.newBuilder(server.uri(PATH)).POST(body)).statusCode());
        for (String type : List.of("text/plain", "application/x-www-form-urlencoded", "application/json; charset=x")) {
            assertEquals(
                    200,
                    withKey(HttpRequest.newBuilder(server.uri(PATH))
                                    .header("Content-Type", type)
                                    .POST(body))
                            .statusCode(),
                    type);
        }
        HttpResponse<String> packed =
                withKey(server.request(PATH, SHORT.formatted("")).header("Content-Encoding", "gzip"));
        assertEquals(415, packed.statusCode());
        assertEquals("close", packed.headers().firstValue("Connection").orElse(""), "its body was not read");
    }

    @Test
    void pagesOfOtherOriginsRunNothing() throws Exception {
        for (String path : List.of(
                PATH,
                "/v1/completions",
                "/v1/responses",
                "/v1/embeddings",
                "/v1/messages",
                "/v1/models/load",
                "/v1/rerank",
                "/completion",
                "/infill",
                "/tokenize",
                "/lora-adapters",
                "/api/generate",
                "/api/chat",
                "/api/embed",
                "/api/pull",
                "/api/create",
                "/api/copy",
                "/tenon/bundles/install")) {
            assertOtherOrigin(server.request(path, "{}").header("Origin", "http://evil.example"));
        }
        HttpRequest.Builder delete = HttpRequest.newBuilder(server.uri("/api/delete"));
        assertOtherOrigin(delete.header("Origin", "null").method("DELETE", HttpRequest.BodyPublishers.ofString("{}")));
        for (String site : List.of("cross-site", "same-site")) {
            assertOtherOrigin(server.request(PATH, SHORT.formatted("")).header("Sec-Fetch-Site", site));
        }
        for (String own : List.of("http://127.0.0.1:" + server.server.port(), "https://app.example")) {
            assertEquals(
                    200,
                    withKey(server.request(PATH, SHORT.formatted("")).header("Origin", own))
                            .statusCode(),
                    own);
        }
        assertEquals(
                200,
                withKey(server.request(PATH, SHORT.formatted(""))
                                .header("Origin", "https://app.example")
                                .header("Sec-Fetch-Site", "cross-site"))
                        .statusCode());
    }

    private static void assertOtherOrigin(HttpRequest.Builder request) throws Exception {
        HttpResponse<String> refused = withKey(request);
        assertEquals(403, refused.statusCode(), refused::body);
        assertTrue(refused.body().contains("--cors-origins"), refused::body);
    }

    @Test
    void sizesAreLimited() throws Exception {
        String user = ",\"user\":\"%s\"";
        assertEquals(
                413,
                post(SHORT.formatted(user.formatted("a word ".repeat(10_000)))).statusCode());
        assertEquals(
                200,
                post(SHORT.formatted(user.formatted("base64".repeat(20_000)))).statusCode());
        assertEquals(
                413,
                post(SHORT.formatted(user.formatted("base64".repeat(40_000)))).statusCode());
        HttpResponse<String> deep = post(SHORT.formatted(",\"metadata\":" + "[".repeat(100) + "]".repeat(100)));
        assertEquals(400, deep.statusCode());
        assertEquals("json_limit", code(deep));
        HttpResponse<String> header =
                withKey(HttpRequest.newBuilder(server.uri("/health")).header("X-Long", "x".repeat(20_000)));
        assertEquals(431, header.statusCode());
    }

    @Test
    void numbersAreLimitedByName() throws Exception {
        String biases = "{" + "\"1\":1,".repeat(0)
                + String.join(
                        ",",
                        java.util.stream.IntStream.range(0, 1100)
                                .mapToObj(i -> "\"" + i + "\":1")
                                .toList()) + "}";
        for (String[] each : new String[][] {
            {"n", "1000"}, {"n", "-1"}, {"top_logprobs", "21"}, {"stop", "[" + "\"a\",".repeat(16) + "\"a\"]"},
            {"stop", "[\"\"]"}, {"logit_bias", biases}, {"logit_bias", "{\"99999999\":1}"}, {"max_tokens", "-2"},
            {"top_k", "1.5"}, {"seed", "\"x\""}, {"tools", "[" + "{},".repeat(128) + "{}]"},
        }) {
            String body = SHORT.formatted(",\"logprobs\":true,\"" + each[0] + "\":" + each[1])
                    .replace(",\"max_tokens\":2", each[0].equals("max_tokens") ? "" : ",\"max_tokens\":2");
            HttpResponse<String> refused = post(body);
            assertEquals(400, refused.statusCode(), each[0] + " " + refused.body());
            assertEquals(
                    each[0],
                    ServerFixture.json(refused.body()).at("/error/param").asText(),
                    refused.body());
        }
    }

    @Test
    void variablesOfTheTemplateAreDataAndReplaceNone() throws Exception {
        HttpResponse<String> refused = post(SHORT.formatted(",\"chat_template_kwargs\":{\"messages\":[]}"));
        assertEquals(400, refused.statusCode());
        assertEquals(
                400, post(SHORT.formatted(",\"chat_template\":\"{{ x }}\"")).statusCode());
        assertEquals(
                200,
                post(SHORT.formatted(",\"chat_template_kwargs\":{\"enable_thinking\":\"{{ x }}\"}"))
                        .statusCode());
    }

    @Test
    void nothingIsFetchedForARequest() throws Exception {
        HttpResponse<String> refused = post("""
                {"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://127.0.0.1:1/"}}]}]}""");
        assertEquals(400, refused.statusCode());
        assertTrue(
                ServerFixture.json(refused.body()).at("/error/param").asText().startsWith("messages[0].content[0]"));
    }

    @Test
    void aHeaderThatComesTooSlowlyEndsTheConnection() throws Exception {
        String answer = raw("GET /health HTTP/1.1\r\nHost: loc");
        assertEquals("", answer);
    }

    @Test
    void connectionsOfAnAddressAreLimited() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try {
            int refused = 0;
            for (int i = 0; i < 40; i++) {
                Socket socket = new Socket("127.0.0.1", server.server.port());
                sockets.add(socket);
                try {
                    socket.getOutputStream()
                            .write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.UTF_8));
                    refused += socket.getInputStream().read() < 0 ? 1 : 0;
                } catch (IOException e) {
                    refused++; // closed while it was written to
                }
            }
            assertTrue(refused >= 16 && refused < 40, "refused: " + refused);
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
        while (server.get("/health").statusCode() != 200) {
            Thread.onSpinWait();
        }
    }

    @Test
    void namesOfModelsAreStrict() {
        LoadRequest request = LoadRequest.of(Path.of("x.gguf"));
        for (String name : List.of("../x", "/etc/passwd", "a b", "", "a\nb")) {
            assertThrows(IllegalArgumentException.class, () -> ModelSpec.of(name, request), name);
        }
    }

    @Test
    void answersSayThatTheirTypeIsMeant() throws Exception {
        HttpResponse<String> answer = server.get("/health");
        assertEquals(
                "nosniff", answer.headers().firstValue("X-Content-Type-Options").orElseThrow());
        assertTrue(answer.headers().firstValue("Server").isEmpty());
        assertFalse(answer.headers().firstValue("X-Request-Id").orElseThrow().isEmpty());
        HttpResponse<String> echoed =
                server.send(HttpRequest.newBuilder(server.uri("/health")).header("X-Request-Id", "mine-1"));
        assertEquals("mine-1", echoed.headers().firstValue("X-Request-Id").orElseThrow());
    }

    @Test
    void otherMethodsAndPathsAreRefused() throws Exception {
        assertEquals(405, withKey(HttpRequest.newBuilder(server.uri(PATH))).statusCode());
        assertEquals(
                404, withKey(HttpRequest.newBuilder(server.uri("/v1/nothing"))).statusCode());
    }
}
