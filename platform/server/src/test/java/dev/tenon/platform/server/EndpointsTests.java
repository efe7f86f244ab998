package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.http.HttpCall;
import dev.tenon.api.http.HttpEndpoint;
import dev.tenon.api.http.HttpFields;
import dev.tenon.api.http.HttpFilter;
import dev.tenon.api.http.HttpHandler;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.engine.TenonEngine;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.server.auth.ApiKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// End points and filters of providers. The limit on time ends a hang.
@Timeout(120)
class EndpointsTests {
    private final ServiceRegistry registry = new ServiceRegistry();
    private final HttpClient client = HttpClient.newHttpClient();
    private Engine engine;
    private TenonServer server;

    private record Provider(String id, List<HttpEndpoint> endpoints, List<HttpFilter> filters)
            implements EndpointProvider {
        static Provider of(String id, HttpEndpoint... endpoints) {
            return new Provider(id, List.of(endpoints), List.of());
        }
    }

    private void start(Map<String, String> settings, List<String> keys) {
        engine = new TenonEngine(registry, EngineConfig.of(settings, Map.of()));
        server = TenonServer.builder(engine)
                .port(0)
                .keys(keys.isEmpty() ? ApiKeys.none() : ApiKeys.of(keys))
                .start();
    }

    private void start() {
        start(Map.of(), List.of());
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
        engine.close();
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(server.address() + path));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path) throws Exception {
        return send(request(path));
    }

    private HttpResponse<String> post(String path, String body) throws Exception {
        return send(request(path).POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    private static JsonNode json(HttpResponse<String> answer) throws IOException {
        return new ObjectMapper().readTree(answer.body());
    }

    private void refused(int status, String code, HttpResponse<String> answer) throws IOException {
        assertEquals(status, answer.statusCode(), answer::body);
        assertEquals(code, json(answer).at("/error/code").asText(), answer::body);
        assertFalse(answer.body().contains("\tat "), answer::body);
    }

    private static HttpEndpoint text(String path, String text) {
        return HttpEndpoint.get(path, exchange -> exchange.text(text));
    }

    @Test
    void fieldsAreCheckedAsDeclared() throws Exception {
        HttpHandler echo = exchange -> exchange.json(exchange.body().values());
        registry.add(Provider.of(
                "echo",
                HttpEndpoint.post("/x/only", HttpFields.only("a", "b"), echo),
                HttpEndpoint.post("/x/listing", HttpFields.listing("a"), echo),
                HttpEndpoint.post(
                        "/x/raw/*",
                        HttpFields.none(),
                        exchange -> exchange.text(exchange.rest() + " " + exchange.bytes().length))));
        start();
        assertEquals(
                "{\"a\":{\"c\":[1,2.5,\"x\",true]}}",
                post("/x/only", "{\"a\":{\"c\":[1,2.5,\"x\",true]},\"b\":null}").body());
        refused(400, "unknown_parameter", post("/x/only", "{\"a\":1,\"d\":2}"));
        refused(400, "invalid_value", post("/x/only", "[1]"));
        refused(400, "invalid_value", post("/x/only", "{\"a\":"));
        refused(405, "method_not_allowed", get("/x/only"));
        HttpResponse<String> listed = post("/x/listing", "{\"a\":1,\"d\":2}");
        assertEquals("{\"a\":1}", listed.body());
        assertEquals("d", listed.headers().firstValue("X-Ignored-Fields").orElseThrow());
        assertEquals("one/two 2", post("/x/raw/one/two", "{\"").body());
    }

    @Test
    void typedValuesAreRefusedByName() throws Exception {
        registry.add(Provider.of("typed", HttpEndpoint.post("/x", HttpFields.only("s", "f", "n", "w"), exchange -> {
            exchange.body().requiredText("s");
            exchange.body().flag("f", false);
            exchange.body().number("n", 0, 1, 0);
            exchange.json(exchange.body().whole("w", 1, 9, 5));
        })));
        start();
        assertEquals("5", post("/x", "{\"s\":\"\"}").body());
        assertEquals(
                "9", post("/x", "{\"s\":\"\",\"f\":true,\"n\":0.5,\"w\":9}").body());
        refused(400, "missing_required_parameter", post("/x", "{}"));
        for (String wrong : List.of("\"s\":1", "\"s\":\"\",\"f\":1", "\"s\":\"\",\"n\":1.5", "\"s\":\"\",\"w\":1.0")) {
            refused(400, "invalid_value", post("/x", "{" + wrong + "}"));
        }
    }

    @Test
    void failuresBecomeErrorsWithoutDetails() throws Exception {
        registry.add(Provider.of(
                "bad",
                HttpEndpoint.get("/bad/io", exchange -> {
                    throw new UncheckedIOException(new IOException("a file of its own"));
                }),
                HttpEndpoint.get("/bad/none", exchange -> {}),
                HttpEndpoint.get("/bad/late", exchange -> {
                    exchange.events();
                    throw RequestException.notFound("late", "It is not there.");
                })));
        start();
        for (String path : List.of("/bad/io", "/bad/none")) {
            HttpResponse<String> answer = get(path);
            refused(500, "internal_error", answer);
            assertFalse(answer.body().contains("file of its own"), answer::body);
        }
        refused(404, "late", get("/bad/late"));
    }

    @Test
    void eventsAreSentAndAClientThatLeavesInterrupts() throws Exception {
        CompletableFuture<Boolean> left = new CompletableFuture<>();
        registry.add(Provider.of(
                "events",
                HttpEndpoint.get("/events", exchange -> {
                    exchange.events().send("first", Map.of("n", 1));
                    exchange.events().send(List.of());
                }),
                HttpEndpoint.post("/unread", HttpFields.none(), exchange -> {
                    exchange.events().send("x");
                    exchange.events().send(exchange.bytes().length);
                }),
                HttpEndpoint.get("/forever", exchange -> {
                    exchange.interruptWhenClientLeaves();
                    exchange.events().send("begun");
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        left.complete(exchange.clientLeft());
                        throw e;
                    }
                })));
        start();
        HttpResponse<String> answer = get("/events");
        assertEquals("event: first\ndata: {\"n\":1}\n\ndata: []\n\n", answer.body());
        assertEquals(
                "text/event-stream; charset=utf-8",
                answer.headers().firstValue("Content-Type").orElseThrow());
        assertEquals("data: \"x\"\n\ndata: 4\n\n", post("/unread", "body").body());
        try (Socket socket = new Socket("127.0.0.1", server.port())) {
            socket.getOutputStream()
                    .write("GET /forever HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            byte[] read = new byte[1024];
            StringBuilder head = new StringBuilder();
            while (head.indexOf("begun") < 0) {
                head.append(new String(read, 0, socket.getInputStream().read(read), StandardCharsets.US_ASCII));
            }
        }
        assertTrue(left.get());
    }

    @Test
    void keysAreNeededUnlessTheEndPointIsOpen() throws Exception {
        registry.add(
                Provider.of("keys", text("/closed", "x"), text("/open", "y").withoutKey()));
        start(Map.of(), List.of("0123456789"));
        refused(401, "invalid_api_key", get("/closed"));
        assertEquals("y", get("/open").body());
        assertEquals(
                "x",
                send(request("/closed").header("Authorization", "Bearer 0123456789"))
                        .body());
    }

    @Test
    void filtersSeeAllPathsRefuseNameAndHearOfTheEnd() throws Exception {
        BlockingQueue<String> ended = new LinkedBlockingQueue<>();
        HttpFilter filter = new HttpFilter() {
            @Override
            public String before(HttpCall request) {
                request.answerHeader("X-Seen", request.endpoint());
                if ("no".equals(request.header("X-Who"))) {
                    throw RequestException.later(429, "rate_limit_error", "rate_limit", "Too many.", 7);
                }
                return request.header("X-Who");
            }

            @Override
            public void after(HttpCall request, int status, Duration time) {
                ended.add(request.path() + " " + status + " " + request.principal());
                throw new IllegalStateException("is logged, and spoils nothing");
            }
        };
        HttpEndpoint who = HttpEndpoint.get("/who", exchange -> exchange.text(exchange.principal()));
        registry.add(new Provider("filter", List.of(who), List.of(filter)));
        start();
        HttpResponse<String> passed = send(request("/who").header("X-Who", "me"));
        assertEquals("me", passed.body());
        assertEquals("/who 200 me", ended.take());
        HttpResponse<String> refused = send(request("/v1/models").header("X-Who", "no"));
        refused(429, "rate_limit", refused);
        assertEquals("7", refused.headers().firstValue("Retry-After").orElseThrow());
        assertEquals("/v1/models", refused.headers().firstValue("X-Seen").orElseThrow());
        assertEquals(200, get("/health").statusCode());
        assertEquals("/health 200 ", ended.take(), "nothing of the refused one");
    }

    @Test
    void pathsOfTheServerStayItsOwnUnlessTheProviderIsPreferred() throws Exception {
        registry.add(Provider.of("mine", text("/health", "mine"), text("/v1/models/x", "mine"), text("/mine", "mine")));
        registry.add(Provider.of("other", text("/mine", "other"), text("/other", "other")));
        start();
        assertEquals("{\"status\":\"ok\"}", get("/health").body());
        assertEquals("mine", get("/mine").body());
        assertEquals("other", get("/other").body());
        JsonNode listed = json(get("/tenon/platform")).get("endpoints");
        assertEquals("[\"GET /mine\"]", listed.at("/0/reached").toString());
        assertEquals(
                "[\"GET /health\",\"GET /v1/models/x\"]",
                listed.at("/0/shadowed").toString());
        assertEquals("[\"GET /mine\"]", listed.at("/1/shadowed").toString());
        ((TenonEngine) engine)
                .configure(EngineConfig.of(Map.of("prefer.endpoint.mine", Provider.class.getName()), Map.of()));
        assertEquals("mine", get("/health").body());
        assertEquals("{\"status\":\"ok\"}", get("/livez").body());
    }

    @Test
    void aProviderThatCannotBeAskedSpoilsNoOther() throws Exception {
        registry.add(new Provider("broken", null, List.of()));
        registry.add(Provider.of("good", text("/good", "good")));
        start();
        assertEquals("good", get("/good").body());
        assertEquals(200, get("/health").statusCode());
    }

    @Test
    void aRequestKeepsItsVersionAndARemovalWaitsForIt() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Provider one = Provider.of("v", HttpEndpoint.get("/v", exchange -> {
            exchange.events().send("one");
            begun.countDown();
            goOn.await();
            exchange.events().send("still one");
        }));
        Provider two = Provider.of("v", text("/v", "two"));
        registry.add(one, 1);
        start();
        CompletableFuture<String> first = client.sendAsync(request("/v").build(), HttpResponse.BodyHandlers.ofString())
                .thenApply(HttpResponse::body);
        begun.await();
        registry.hold(2);
        registry.add(two, 2);
        registry.swap(Set.of(1L), Set.of(2L));
        assertEquals("two", get("/v").body());
        Thread removal = Thread.ofVirtual().start(() -> registry.remove(one));
        assertEquals("two", get("/v").body());
        assertTrue(removal.isAlive());
        goOn.countDown();
        assertEquals("data: \"one\"\n\ndata: \"still one\"\n\n", first.get());
        removal.join();
        registry.remove(two);
        refused(404, "not_found", get("/v"));
    }

    @Test
    void requestsFindSomeVersionWhileVersionsChange() throws Exception {
        registry.add(Provider.of("v", text("/v", "0")), 0);
        start();
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < 4; i++) {
            clients.add(CompletableFuture.runAsync(() -> {
                try {
                    while (end.getCount() > 0) {
                        assertEquals(200, get("/v").statusCode());
                    }
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }));
        }
        for (long next = 1; next <= 200; next++) {
            registry.hold(next);
            registry.add(Provider.of("v", text("/v", Long.toString(next))), next);
            registry.swap(Set.of(next - 1), Set.of(next));
            assertEquals(Long.toString(next), get("/v").body());
            registry.servicesOf(next - 1).forEach(registry::remove);
            registry.release(next - 1);
        }
        end.countDown();
        for (CompletableFuture<Void> each : clients) {
            each.get();
        }
    }

    @Test
    void whatRunsTooLongIsInterruptedWhenItsProviderGoes() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Provider endless = Provider.of("endless", HttpEndpoint.get("/endless", exchange -> {
            begun.countDown();
            new CountDownLatch(1).await();
        }));
        registry.add(endless);
        engine = new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));
        server = TenonServer.builder(engine)
                .port(0)
                .endpointEnd(Duration.ofMillis(20))
                .endpoints(Provider.of("given", text("/given", "given")))
                .start();
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request("/endless").build(), HttpResponse.BodyHandlers.ofString());
        begun.await();
        registry.remove(endless);
        assertEquals(503, answer.get().statusCode());
        assertEquals("given", get("/given").body());
    }

    /// Found by `ServiceLoader` in the test below, and nowhere else.
    public static final class Found implements EndpointProvider {
        /// Creates the provider.
        public Found() {}

        @Override
        public String id() {
            return "found";
        }

        @Override
        public List<HttpEndpoint> endpoints() {
            return List.of(text("/found", "found"));
        }
    }

    @Test
    void aProgramsProvidersAreFound(@TempDir Path folder) throws Exception {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve(EndpointProvider.class.getName()), Found.class.getName());
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
            thread.setContextClassLoader(loader);
            engine = StandaloneEngine.create(Map.of());
        } finally {
            thread.setContextClassLoader(before);
        }
        server = TenonServer.builder(engine).port(0).start();
        assertEquals("found", get("/found").body());
    }
}
