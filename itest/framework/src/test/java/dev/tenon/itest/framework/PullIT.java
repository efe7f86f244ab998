package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `pull` as processes: several at once, one that is told to end, one without room.
class PullIT {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final long HUGE = 200L << 20;

    @TempDir
    Path folder;

    private final AtomicInteger requests = new AtomicInteger();
    private final CountDownLatch gate = new CountDownLatch(1);
    private HttpServer server;
    private ExecutorService threads;
    private Installation installation;
    private Path models;

    @BeforeEach
    void start() throws IOException {
        models = folder.resolve("models");
        installation = Installation.copy(folder).with("TENON_LOG", "warn").with("TENON_MODELS", models.toString());
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        threads = Executors.newVirtualThreadPerTaskExecutor();
        server.setExecutor(threads);
        server.start();
    }

    @AfterEach
    void stop() {
        gate.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    /// The embedded model, whose second half waits for the gate; or zeros without an end.
    private void answer(HttpExchange exchange) throws IOException {
        requests.incrementAndGet();
        boolean huge = exchange.getRequestURI().getPath().equals("/huge.gguf");
        byte[] model = Files.readAllBytes(Jars.model());
        exchange.sendResponseHeaders(200, huge ? HUGE : model.length);
        try (exchange) {
            exchange.getResponseBody().write(model, 0, model.length / 2);
            exchange.getResponseBody().flush();
            if (huge) {
                byte[] zeros = new byte[1 << 20];
                for (long sent = model.length / 2 + zeros.length; sent < HUGE; sent += zeros.length) {
                    exchange.getResponseBody().write(zeros);
                }
                return;
            }
            gate.await();
            exchange.getResponseBody().write(model, model.length / 2, model.length - model.length / 2);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(models)) {
            return files.map(f -> f.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void ofThreeProcessesOneDownloadsAndTwoWait() throws Exception {
        List<Path> errors = new ArrayList<>();
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            errors.add(folder.resolve("err" + i + ".txt"));
            processes.add(installation.start(errors.get(i), "pull", url("/m.gguf")));
        }
        int waiting = 0;
        while (waiting < 2 && processes.stream().allMatch(Process::isAlive)) {
            waiting = 0;
            for (Path err : errors) {
                waiting += Files.readString(err).contains("waiting for its end") ? 1 : 0;
            }
            Thread.onSpinWait();
        }
        assertEquals(2, waiting, "processes that say that they wait");
        gate.countDown();
        for (int i = 0; i < 3; i++) {
            try (Deadline deadline = new Deadline(processes.get(i), LIMIT);
                    BufferedReader out = processes.get(i).inputReader(StandardCharsets.UTF_8)) {
                assertEquals(models.resolve("m.gguf").toString(), out.readLine());
                assertEquals(0, deadline.await(), Files.readString(errors.get(i)));
            }
        }
        assertEquals(1, requests.get());
        assertEquals(List.of("m.gguf", "m.gguf.origin"), names());
        assertEquals(-1, Files.mismatch(Jars.model(), models.resolve("m.gguf")));
    }

    @Test
    void aDownloadThatIsToldToEndLeavesNoLock() throws Exception {
        Path err = folder.resolve("err.txt");
        Process process = installation.start(err, "pull", url("/m.gguf"));
        try (Deadline deadline = new Deadline(process, LIMIT)) {
            Path part = models.resolve("m.gguf.part");
            while (process.isAlive() && !(Files.exists(part) && Files.size(part) > 0)) {
                Thread.onSpinWait();
            }
            assertTrue(names().contains("m.gguf.lock"), names().toString());
            process.destroy();
            assertEquals(143, deadline.await(), Files.readString(err));
        }
        assertEquals("", Files.readString(err));
        assertEquals(List.of("m.gguf.part", "m.gguf.part.origin"), names(), "what can be resumed");
    }

    @Test
    void aFullDiskIsOneLineAndNotTriedAgain() throws Exception {
        // A limit on the size of files is a full disk to the process that has it.
        Path err = folder.resolve("err.txt");
        Process process =
                installation.startIn(err, "ulimit -f 100000 && exec \"$0\" \"$@\"", List.of("pull", url("/huge.gguf")));
        try (Deadline deadline = new Deadline(process, LIMIT)) {
            assertEquals(1, deadline.await(), Files.readString(err));
        }
        assertTrue(
                Files.readString(err).matches("tenon: .*/huge\\.gguf cannot be written: [^\\n]* \\[IO-001]\\n"),
                Files.readString(err));
        assertEquals(1, requests.get());
    }
}
