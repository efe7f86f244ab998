package dev.tenon.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Two executors, each a JVM of its own. Long, as they are started.
@Tag("long")
@Timeout(300)
class ClusterTests {
    private static final int ROWS = 96;
    private static final int TOKENS = 40;

    private static SparkSession session;

    @BeforeAll
    static void start() throws Exception {
        Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
        session = Story.session("local-cluster[2,1,1024]", builder -> builder.config(
                        "spark.executor.extraClassPath", System.getProperty("java.class.path"))
                .config("spark.executor.cores", 1));
    }

    @AfterAll
    static void stop() {
        session.stop();
    }

    /// {@return the processes of the executors, once there are two}
    private static Set<Long> executors() throws InterruptedException {
        MapFunction<Long, Long> process = row -> {
            Thread.sleep(20); // so that one executor does not take all
            return ProcessHandle.current().pid();
        };
        Set<Long> processes = new TreeSet<>();
        while (processes.size() < 2) {
            processes.addAll(session.range(0, 20, 1, 20)
                    .map(process, Encoders.LONG())
                    .collectAsList());
        }
        return processes;
    }

    private static Dataset<Row> stories(int partitions) {
        return TenonTransform.complete()
                .options(Story.options(TOKENS))
                .apply(Story.rows(session, Story.prompts(ROWS)).repartition(partitions));
    }

    private static void assertRows(List<String> expected, List<Row> rows) {
        assertEquals(ROWS, rows.size(), "none is lost or doubled");
        for (Row row : rows) {
            assertEquals(expected.get(row.getInt(0)), row.getString(2), row.toString());
        }
        assertEquals(
                ROWS, rows.stream().map(row -> row.getInt(0)).distinct().count());
    }

    @Test
    void aKilledExecutorLosesAndDoublesNoRow() throws Exception {
        List<String> expected = Story.plain(Story.prompts(ROWS), TOKENS);
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
}
