package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A bundle of end points comes into a running `tenon serve`, is replaced and removed while streams run: none breaks,
/// and no request fails.
class EndpointUpdatesIT {
    private static final String COUNT = "/example/count";
    private static final String BODY = "{\"text\":\"Once upon a time\"}";
    private static final String STREAM =
            "{\"prompt\":\"Lily wanted\",\"temperature\":0,\"max_tokens\":48,\"ignore_eos\":true,\"stream\":true}";
    private static final int STREAMS = 4;

    @TempDir
    Path folder;

    private final AtomicInteger streams = new AtomicInteger();
    private final AtomicInteger others = new AtomicInteger();
    private volatile boolean over;

    /// Clients that ask again and again until the end.
    private List<Future<?>> clients(RunningServer server, ExecutorService threads) throws Exception {
        String text = stream(server);
        List<Future<?>> clients = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
            clients.add(threads.submit(() -> {
                while (!over) {
                    assertEquals(text, stream(server));
                    streams.incrementAndGet();
                }
                return null;
            }));
        }
        clients.add(threads.submit(() -> {
            while (!over) {
                assertEquals(200, server.get("/v1/models").statusCode());
                HttpResponse<String> tokens = server.send(server.post("/tokenize", "{\"content\":\"Once\"}"));
                assertEquals(200, tokens.statusCode(), tokens::body);
                others.incrementAndGet();
                Thread.sleep(ServerTraffic.PAUSE);
            }
            return null;
        }));
        return clients;
    }

    private static String stream(RunningServer server) throws Exception {
        HttpResponse<String> answer = server.send(server.post("/v1/completions", STREAM));
        assertEquals(200, answer.statusCode(), answer::body);
        assertTrue(answer.body().endsWith("data: [DONE]\n\n"), answer::body);
        return answer.body().replaceAll("\"(id|created)\":(\"[^\"]*\"|\\d+),?", "");
    }

    /// Waits until each kind of client has got some more answers.
    private void awaitTraffic(List<Future<?>> clients) throws Exception {
        int streamed = streams.get() + STREAMS;
        int asked = others.get() + 2;
        while (streams.get() < streamed || others.get() < asked) {
            for (Future<?> client : clients) {
                if (client.isDone()) {
                    client.get(); // throws why
                }
            }
            Thread.sleep(1);
        }
    }

    private static void put(Path jar, Path target) throws IOException {
        Path draft = Files.copy(jar, target.resolveSibling("draft"), StandardCopyOption.REPLACE_EXISTING);
        Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    @Test
    void noStreamBreaksAndNoRequestFailsWhileEndPointsComeChangeAndGo() throws Exception {
        Path one = ExampleJar.make(folder.resolve("one"), "1.0.0", "1");
        Path two = ExampleJar.make(folder.resolve("two"), "1.0.1", "2");
        Path bad =
                Jars.failing(two, folder.resolve("bad.jar"), "1.0.2", "org.example.tokens.TokensProvider", "endpoints");
        Installation installation = Installation.copy(folder);
        Path deployed = installation.home().resolve("deploy/tokens.jar");
        try (RunningServer server = new RunningServer(installation, Duration.ofMinutes(10), "-c", "512", "-np", "5");
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> clients = clients(server, threads);
            awaitTraffic(clients);
            assertEquals(404, server.send(server.post(COUNT, BODY)).statusCode());

            put(one, deployed);
            while (server.send(server.post(COUNT, BODY)).statusCode() == 404) {
                awaitTraffic(clients);
            }
            Future<String> asked = threads.submit(() -> versions(server));
            awaitTraffic(clients);

            Installation.Result refused = installation.tenon("bundles", "update", bad.toString());
            assertEquals(1, refused.code(), refused::out);
            assertTrue(refused.err().contains("1.0.2 failed its self-check"), refused::err);
            assertTrue(refused.err().contains("1.0.0 stays in use"), refused::err);
            awaitTraffic(clients);

            put(two, deployed);
            while (!answer(server).contains("\"version\":\"2\"")) {
                awaitTraffic(clients);
            }
            awaitTraffic(clients);
            HttpResponse<String> streamed = server.send(server.post(COUNT, BODY.replace("}", ",\"stream\":true}")));
            assertTrue(streamed.body().startsWith("event: token\ndata: {"), streamed::body);
            assertTrue(streamed.body().contains("event: count\ndata: {"), streamed::body);
            assertEquals(
                    400,
                    server.send(server.post(COUNT, "{\"text\":\"a\",\"other\":1}"))
                            .statusCode());

            over = true;
            assertEquals("12", asked.get(), "the versions in their order");
            for (Future<?> client : clients) {
                client.get();
            }
            over = false;
            clients = clients(server, threads);
            Files.delete(deployed);
            while (server.send(server.post(COUNT, BODY)).statusCode() == 200) {
                awaitTraffic(clients);
            }
            assertEquals(404, server.send(server.post(COUNT, BODY)).statusCode());
            awaitTraffic(clients);
            over = true;
            for (Future<?> client : clients) {
                client.get();
            }
            assertEquals("", server.errors());
            assertEquals(0, server.terminate(), server::errors);
        }
    }

    private static String answer(RunningServer server) throws Exception {
        HttpResponse<String> answer = server.send(server.post(COUNT, BODY));
        assertEquals(200, answer.statusCode(), answer::body);
        return answer.body();
    }

    /// {@return the versions that answered, each once, in the order in which they came}
    private String versions(RunningServer server) throws Exception {
        StringBuilder versions = new StringBuilder();
        while (!over) {
            String version = answer(server).replaceAll(".*\"version\":\"(\\d)\".*", "$1");
            if (versions.lastIndexOf(version) != versions.length() - 1 || versions.isEmpty()) {
                versions.append(version);
            }
            Thread.sleep(ServerTraffic.PAUSE);
        }
        return versions.toString();
    }
}
