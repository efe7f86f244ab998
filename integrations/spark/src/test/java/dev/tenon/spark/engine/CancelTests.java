package dev.tenon.spark.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.Model;
import dev.tenon.spark.TenonCatalog;
import dev.tenon.spark.TenonTransform;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Generations end with the job that wanted them.
@Timeout(120)
class CancelTests {
    private static final String MODEL = Path.of("../../platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf")
            .toAbsolutePath()
            .toString();

    private static SparkSession session;

    @BeforeAll
    static void start() {
        session = SparkSession.builder()
                .master("local[2]")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.sql.catalog.tenon", TenonCatalog.class.getName())
                .config("spark.sql.catalog.tenon.model", MODEL)
                .config("spark.sql.catalog.tenon.maxTokens", 4000)
                .getOrCreate();
    }

    @AfterAll
    static void stop() {
        session.stop();
    }

    private static Dataset<Row> rows() {
        return session.range(0, 200, 1, 2).selectExpr("concat('Once upon a time ', id) AS text");
    }

    private static Model model() throws InterruptedException {
        while (ModelRows.loaded().isEmpty()) {
            Thread.sleep(10);
        }
        return ModelRows.loaded().getFirst();
    }

    /// Waits until nothing runs or waits, and says how long that took.
    private static long idleAfterMillis(Model model) throws InterruptedException {
        long begin = System.nanoTime();
        while (model.runningRequests() + model.waitingRequests() > 0) {
            Thread.sleep(1);
        }
        return (System.nanoTime() - begin) / 1_000_000;
    }

    private static void cancels(Dataset<Row> rows) throws Exception {
        CompletableFuture<List<Row>> job = CompletableFuture.supplyAsync(rows::collectAsList);
        Model model = model();
        while (model.runningRequests() < 2) {
            Thread.sleep(10);
        }
        session.sparkContext().cancelAllJobs();
        long millis = idleAfterMillis(model);
        // Uncancelled, they would write 4000 tokens each: seconds, and then all other rows.
        assertTrue(millis < 2000, millis + " ms");
        assertThrows(ExecutionException.class, job::get);
        assertEquals(0, model.runningRequests());
    }

    @Test
    void ofATransform() throws Exception {
        cancels(TenonTransform.complete()
                .option("model", MODEL)
                .option("maxTokens", 4000)
                .apply(rows()));
    }

    @Test
    void ofAFunction() throws Exception {
        cancels(rows().selectExpr("tenon.complete(text)"));
    }

    @Test
    void ofWhichNoMoreRowsAreWanted() throws Exception {
        Dataset<Row> all = TenonTransform.complete()
                .option("model", MODEL)
                .option("maxTokens", 8)
                .apply(rows().coalesce(1));
        assertEquals(2, all.limit(2).collectAsList().size());
        assertTrue(idleAfterMillis(model()) < 2000);
    }
}
