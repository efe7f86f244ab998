package dev.tenon.spark.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.Model;
import dev.tenon.spark.Story;
import dev.tenon.spark.TenonCatalog;
import dev.tenon.spark.TenonTransform;
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
    private static SparkSession session;

    @BeforeAll
    static void start() {
        session = Story.session("local[2]", builder -> {
            Story.options(400).forEach((name, value) -> builder.config("spark.sql.catalog.tenon." + name, value));
            return builder.config("spark.sql.catalog.tenon", TenonCatalog.class.getName());
        });
    }

    @AfterAll
    static void stop() {
        session.stop();
    }

    private static Dataset<Row> rows() {
        return session.range(0, 100_000, 1, 2).selectExpr("concat('Once upon a time ', id) AS text");
    }

    private static Model model() throws InterruptedException {
        while (ModelRows.loaded().isEmpty()) {
            Thread.sleep(10);
        }
        return ModelRows.loaded().getFirst();
    }

    /// Waits until nothing runs or waits: hours, if nobody ended it.
    private static void awaitIdle(Model model) throws InterruptedException {
        while (model.runningRequests() + model.waitingRequests() > 0) {
            Thread.sleep(1);
        }
    }

    private static void cancels(Dataset<Row> rows) throws Exception {
        CompletableFuture<List<Row>> job = CompletableFuture.supplyAsync(rows::collectAsList);
        Model model = model();
        while (model.runningRequests() < 2) {
            Thread.sleep(10);
        }
        session.sparkContext().cancelAllJobs();
        awaitIdle(model);
        assertThrows(ExecutionException.class, job::get);
        assertEquals(0, model.runningRequests());
    }

    @Test
    void ofATransform() throws Exception {
        cancels(TenonTransform.complete().options(Story.options(400)).apply(rows()));
    }

    @Test
    void ofAFunction() throws Exception {
        cancels(rows().selectExpr("tenon.complete(text)"));
    }

    @Test
    void ofWhichNoMoreRowsAreWanted() throws Exception {
        Dataset<Row> all = TenonTransform.complete().options(Story.options(8)).apply(rows().coalesce(1));
        assertEquals(2, all.limit(2).collectAsList().size());
        awaitIdle(model());
    }
}
