package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A server takes the place of another one. The limit on time ends a hang.
@Timeout(120)
class TakeOverTests {
    private static final String PATH = "/v1/completions";
    private static final String TALE =
            "{\"prompt\":\"Once upon a time\",\"temperature\":0,\"ignore_eos\":true,\"max_tokens\":%d%s}";
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private static ServerBuilder successor(ServerFixture before, Engine engine) {
        return TenonServer.builder(engine)
                .port(0)
                .parallel(1)
                .context(512)
                .model(
                        "story",
                        LoadRequest.builder(ServerFixture.MODEL).threads(2).build());
    }

    private static ServerFixture fixture() {
        return new ServerFixture(b -> b.parallel(1));
    }

    /// An engine that counts what it loads.
    private static Engine counting(Engine engine, AtomicInteger loads) {
        return (Engine) Proxy.newProxyInstance(
                Engine.class.getClassLoader(), new Class<?>[] {Engine.class}, (proxy, method, args) -> {
                    if (method.getName().equals("load")) {
                        loads.incrementAndGet();
                    }
                    try {
                        return method.invoke(engine, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static Socket open(ServerFixture server, String body) throws IOException {
        Socket socket = new Socket("127.0.0.1", server.server.port());
        socket.getOutputStream()
                .write(("POST " + PATH + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                + "Content-Length: " + body.length() + "\r\n\r\n" + body)
                        .getBytes(StandardCharsets.UTF_8));
        return socket;
    }

    /// The model has one sequence: the new server's request waits for that of the old one, whatever both let in.
    @Test
    void runningStreamsEndAndNewRequestsAreAnsweredByTheNextWithTheSameModel() throws Exception {
        AtomicInteger loads = new AtomicInteger();
        try (ServerFixture old = fixture();
                Socket stream = open(old, TALE.formatted(200, ",\"stream\":true"))) {
            InputStream in = stream.getInputStream();
            assertEquals('H', in.read());
            try (TenonServer next = successor(old, counting(old.engine, loads))
                    .takeOver(old.server.handOver())
                    .start()) {
                assertEquals(old.server.port(), next.port());
                assertEquals(0, loads.get(), "models that were loaded again");
                CompletableFuture<Void> end = CompletableFuture.runAsync(() -> old.server.retire(LIMIT));
                CompletableFuture<HttpResponse<String>> answer = old.client.sendAsync(
                        old.request(PATH, TALE.formatted(5, "")).build(), HttpResponse.BodyHandlers.ofString());
                assertTrue(new String(in.readAllBytes(), StandardCharsets.UTF_8).contains("data: [DONE]\n\n"));
                assertEquals(200, answer.get().statusCode(), answer.get()::body);
                old.client.close(); // its connections, too
                end.get();
            }
        }
    }

    @Test
    void countsGoOnWhoeverAnswers() throws Exception {
        try (ServerFixture old = fixture()) {
            assertEquals(200, old.post(PATH, TALE.formatted(3, "")).statusCode());
            try (TenonServer next =
                    successor(old, old.engine).takeOver(old.server.handOver()).start()) {
                old.post(PATH, TALE.formatted(4, "")); // of either: both accept until one retires
                old.server.retire(LIMIT);
                assertEquals(200, old.post(PATH, TALE.formatted(5, "")).statusCode());
                String text = old.get("/metrics").body();
                assertTrue(text.contains("tenon:generation_tokens_total{model_name=\"story\"} 12\n"), text);
                assertTrue(text.contains("tenon:request_generation_tokens_count{model_name=\"story\"} 3\n"), text);
                assertTrue(text.contains("tenon:http_connections 1\n"), "of " + next.address() + ": " + text);
            }
        }
    }

    @Test
    void connectionsOfTheOldOneEndWithTheirNextAnswer() throws Exception {
        try (ServerFixture old = fixture();
                Socket socket = new Socket("127.0.0.1", old.server.port())) {
            byte[] request = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.UTF_8);
            socket.getOutputStream().write(request);
            InputStream in = socket.getInputStream();
            String head = "";
            while (!head.endsWith("{\"status\":\"ok\"}")) {
                head += (char) in.read();
            }
            assertTrue(!head.contains("Connection: close"), head);
            try (TenonServer next =
                    successor(old, old.engine).takeOver(old.server.handOver()).start()) {
                CompletableFuture<Void> end = CompletableFuture.runAsync(() -> old.server.retire(LIMIT));
                String last = "";
                while (!old.server.isRetired()) {
                    Thread.onSpinWait();
                }
                socket.getOutputStream().write(request);
                last = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                assertTrue(last.contains("Connection: close") && last.endsWith("{\"status\":\"ok\"}"), last);
                end.get();
                assertEquals(200, old.get("/ready").statusCode(), "of " + next.address());
            }
        }
    }

    @Test
    void aStartThatFailsLeavesTheOldOneAsItWas() throws Exception {
        try (ServerFixture old = fixture()) {
            ServerBuilder next = successor(old, old.engine)
                    .model("missing", LoadRequest.of(Path.of("missing.gguf")))
                    .takeOver(old.server.handOver());
            assertThrows(TenonException.class, next::start);
            assertEquals(200, old.post(PATH, TALE.formatted(3, "")).statusCode());
        }
    }

    @Test
    void anotherPortClosesTheOldOne() throws Exception {
        try (ServerFixture old = fixture()) {
            int before = old.server.port();
            int other;
            try (Socket free = new Socket()) {
                free.bind(null);
                other = free.getLocalPort();
            }
            try (TenonServer next = successor(old, old.engine)
                    .port(other)
                    .takeOver(old.server.handOver())
                    .start()) {
                old.server.retire(LIMIT);
                assertEquals(other, next.port());
                assertThrows(IOException.class, () -> new Socket("127.0.0.1", before).close());
                new Socket("127.0.0.1", other).close();
            }
        }
    }
}
