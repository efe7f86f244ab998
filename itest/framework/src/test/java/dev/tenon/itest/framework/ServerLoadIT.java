package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Many clients at once, and many that leave in the middle: none is lost, and nothing stays behind.
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class ServerLoadIT {
    private static final Logger LOG = LoggerFactory.getLogger(ServerLoadIT.class);
    private static final Duration LIMIT = Duration.ofMinutes(50);
    private static final int ABORTING = 8;
    /// What a thousand waiting requests may take on the heap.
    private static final long HEAP_BYTES = 128L << 20;

    @TempDir
    Path folder;

    @Test
    void aHundredClientsAtOnceAreAllAnswered() throws Exception {
        clients(100);
    }

    /// Long: a thousand clients through a queue of a thousand.
    @Test
    @Tag("long")
    void aThousandClientsAtOnceAreAllAnswered() throws Exception {
        clients(1000);
    }

    @Test
    void twoHundredStreamsThatAreAbortedLeaveNothing() throws Exception {
        aborts(200);
    }

    /// Long: ten thousand streams.
    @Test
    @Tag("long")
    void tenThousandStreamsThatAreAbortedLeaveNothing() throws Exception {
        aborts(10_000);
    }

    private void clients(int count) throws Exception {
        try (RunningServer server =
                new RunningServer(Installation.copy(folder), LIMIT, "--queue", "1000", "-c", "256")) {
            String body = "{\"prompt\":\"Once upon a time\",\"temperature\":0,\"max_tokens\":16,\"ignore_eos\":true}";
            String expected = text(server.send(server.post("/v1/completions", body)));
            long before = server.heapBytes();
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                answers.add(server.client.sendAsync(
                        server.post("/v1/completions", body), HttpResponse.BodyHandlers.ofString()));
            }
            long during = server.heapBytes();
            for (CompletableFuture<HttpResponse<String>> answer : answers) {
                assertEquals(expected, text(answer.get()));
            }
            assertIdle(server);
            long after = server.heapBytes();
            LOG.info(
                    "{} clients: heap {}, {}, {} KiB before, during, after",
                    count,
                    before >> 10,
                    during >> 10,
                    after >> 10);
            assertTrue(during < before + HEAP_BYTES, "heap before and during, in bytes: " + before + ", " + during);
            assertEquals(0, server.terminate(), server::errors);
        }
    }

    private static String text(HttpResponse<String> answer) {
        assertEquals(200, answer.statusCode(), answer::body);
        return answer.body().replaceAll("(?s).*\"text\":\"((?:[^\"\\\\]|\\\\.)*)\".*", "$1");
    }

    private static void assertIdle(RunningServer server) throws Exception {
        for (String gauge : List.of("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc")) {
            Osgi.await(gauge + " is 0", () -> server.metric(gauge) == 0);
        }
    }

    private void aborts(int count) throws Exception {
        try (RunningServer server =
                new RunningServer(Installation.copy(folder), LIMIT, "--queue", "1000", "-c", "512")) {
            streams(server, 200); // what is made once: threads, code, buffers; fewer leave the pools smaller
            assertIdle(server);
            long heap = server.heapBytes(); // first: the JVM keeps a thread and a socket for who looks
            long[] before = {server.threads(), server.openFiles(), heap};
            streams(server, count);
            assertIdle(server);
            // One connection is that of the look itself.
            Osgi.await("connections are closed", () -> server.metric("http_connections") <= 1);
            Osgi.await("files are closed", () -> server.openFiles() <= before[1]);
            Osgi.await("threads have ended", () -> server.threads() <= before[0]);
            long after = server.heapBytes();
            LOG.info("{} aborted streams: heap {} then {} KiB", count, before[2] >> 10, after >> 10);
            assertTrue(after < before[2] + (16 << 20), "heap before and after, in bytes: " + before[2] + ", " + after);
            assertEquals(0, server.terminate(), server::errors);
        }
    }

    /// Several clients at a time that each leave after a random number of bytes: none, in the head, in the stream.
    private static void streams(RunningServer server, int count) throws Exception {
        String body = "{\"prompt\":\"Once\",\"ignore_eos\":true,\"stream\":true}";
        byte[] request = ("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "Content-Length: " + body.length() + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.UTF_8);
        int port = URI.create(server.address).getPort();
        try (ExecutorService threads = Executors.newFixedThreadPool(ABORTING)) {
            List<Future<?>> clients = new ArrayList<>();
            for (int i = 0; i < ABORTING; i++) {
                Random random = new Random(i);
                int share = count / ABORTING;
                clients.add(threads.submit(() -> {
                    for (int n = 0; n < share; n++) {
                        abort(port, request, random);
                    }
                    return null;
                }));
            }
            for (Future<?> client : clients) {
                client.get();
            }
        }
    }

    private static void abort(int port, byte[] request, Random random) throws Exception {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setSoLinger(random.nextBoolean(), 0); // half of them with a reset
            OutputStream out = socket.getOutputStream();
            out.write(request, 0, random.nextInt(10) == 0 ? random.nextInt(request.length) : request.length);
            if (random.nextInt(4) > 0) {
                socket.setSoTimeout(1 + random.nextInt(200));
                InputStream in = socket.getInputStream();
                try {
                    in.readNBytes(random.nextInt(2000));
                } catch (java.net.SocketTimeoutException e) {
                    return; // leaves now: a moment like any other
                }
            }
        }
    }
}
