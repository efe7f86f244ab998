package dev.tenon.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Two executors, each a JVM of its own. Long, as they are started.
@Tag("long")
@Timeout(300)
class ClusterTests {
    private static final int ROWS = 64;
    private static final int TOKENS = 24;

    private SparkSession session;

    @TempDir
    Path folder;

    private void start(int executors, UnaryOperator<SparkSession.Builder> more) {
        session = Story.cluster(executors, more);
    }

    @AfterEach
    void stop() {
        session.stop();
    }

    /// {@return the processes of the executors, once there are two}
    private Set<Long> executors() throws InterruptedException {
        MapFunction<Long, Long> process = row -> {
            Thread.sleep(20); // so that one executor does not take all
            return ProcessHandle.current().pid();
        };
        Set<Long> processes = new TreeSet<>();
        while (processes.size() < 2) {
            processes.addAll(
                    session.range(0, 20, 1, 20).map(process, Encoders.LONG()).collectAsList());
        }
        return processes;
    }

    private Dataset<Row> stories(int partitions) {
        return TenonTransform.complete()
                .options(Story.options(TOKENS))
                .apply(Story.rows(session, Story.prompts(ROWS)).repartition(partitions));
    }

    private static void assertRows(List<String> expected, List<Row> rows) {
        assertEquals(ROWS, rows.size(), "none is lost or doubled");
        for (Row row : rows) {
            assertEquals(expected.get(row.getInt(0)), row.getString(2), row.toString());
        }
        assertEquals(ROWS, rows.stream().map(row -> row.getInt(0)).distinct().count());
    }

    @Test
    void aKilledExecutorLosesAndDoublesNoRow() throws Exception {
        List<String> expected = Story.plain(Story.prompts(ROWS), TOKENS);
        start(2, builder -> builder);
        Set<Long> executors = executors();
        TenonMetrics metrics = TenonMetrics.of(session);
        metrics.reset();
        assertRows(expected, stories(8).collectAsList());
        assertEquals(2, metrics.models().value(), "one for each executor");
        assertEquals(ROWS, metrics.rows().value());

        metrics.reset();
        CompletableFuture<List<Row>> job =
                CompletableFuture.supplyAsync(() -> stories(24).collectAsList());
        while (metrics.rows().value() == 0) {
            Thread.sleep(10);
        }
        assertTrue(ProcessHandle.of(executors.iterator().next()).orElseThrow().destroyForcibly());
        assertFalse(job.isDone(), "it was killed in the middle");
        assertRows(expected, job.get(200, TimeUnit.SECONDS));
        assertTrue(metrics.models().value() <= 1, "the one that takes its place loads: " + metrics);
    }

    @Test
    void aHostDownloadsAModelOnce() throws Exception {
        byte[] model = Files.readAllBytes(Path.of(Story.MODEL));
        AtomicLong sent = new AtomicLong();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/story.gguf", exchange -> {
            try (exchange) {
                boolean asksForBytes = exchange.getRequestMethod().equals("GET");
                exchange.getResponseHeaders().add("Content-Length", "" + model.length);
                exchange.sendResponseHeaders(200, asksForBytes ? model.length : -1);
                if (asksForBytes) {
                    exchange.getResponseBody().write(model);
                    sent.addAndGet(model.length);
                }
            }
        });
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        try {
            start(2, builder -> builder.config("spark.executorEnv.TENON_MODELS", folder.toString()));
            executors();
            List<Row> rows = TenonTransform.complete()
                    .option("model", "http://127.0.0.1:" + server.getAddress().getPort() + "/story.gguf")
                    .option("maxTokens", 4)
                    .apply(Story.rows(session, Story.prompts(8)).repartition(2))
                    .collectAsList();
            assertTrue(rows.stream().allMatch(row -> row.isNullAt(3)), rows.toString());
            assertEquals(2, TenonMetrics.of(session).models().value());
            assertEquals(model.length, sent.get());
        } finally {
            server.stop(0);
        }
    }

    /// No GPU is needed: the backend of CPUs says which device it was asked for.
    @Test
    void aTasksGpuIsTheDeviceOfItsModel() throws Exception {
        Path script = Files.writeString(
                folder.resolve("gpus.sh"),
                "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"gpu-of-the-task\"]}'\n");
        assertTrue(script.toFile().setExecutable(true));
        start(
                1,
                builder -> builder.config("spark.worker.resource.gpu.amount", 1)
                        .config("spark.worker.resource.gpu.discoveryScript", script.toString())
                        .config("spark.executor.resource.gpu.amount", 1)
                        .config("spark.task.resource.gpu.amount", 0.5));
        Dataset<Row> rows =
                TenonTransform.complete().options(Story.options(4)).apply(Story.rows(session, Story.prompts(2)));
        String text = assertThrows(SparkException.class, rows::collectAsList).toString();
        assertTrue(text.contains("gpu-of-the-task"), text);
    }
}
