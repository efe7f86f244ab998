package dev.tenon.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.Model;
import dev.tenon.Tenon;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Measures rows a second of executors against the engine alone with as many threads, in turns, and checks that the
/// rows are the same. No ring runs it; `docs/spark.md` has its command.
@Tag("long")
class Throughput {
    private static final int ROWS = Integer.getInteger("tenon.spark.rows", 200);
    private static final int TOKENS = 48;
    private static final int ROUNDS = Integer.getInteger("tenon.spark.rounds", 7);
    private static final int WARM_UP = 4;

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void measure(int executors) throws Exception {
        List<String> prompts = Story.prompts(ROWS);
        SparkSession session = Story.cluster(executors, builder -> builder);
        try (Model model = Tenon.model(Story.MODEL)
                        .contextLength(512)
                        .threads(executors)
                        .requests(8)
                        .load();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Dataset<Row> rows = TenonTransform.complete()
                    .options(Story.options(TOKENS))
                    .option("temperature", 0)
                    .apply(Story.rows(session, prompts).repartition(executors).cache());
            double[] alone = new double[ROUNDS];
            double[] spark = new double[ROUNDS];
            double[] work = new double[ROUNDS];
            for (int i = -WARM_UP; i < ROUNDS; i++) {
                double idle = processors();
                long begin = System.nanoTime();
                List<Future<String>> texts = prompts.stream()
                        .map(prompt -> threads.submit(() -> model.completion(prompt)
                                .maxNewTokens(TOKENS)
                                .temperature(0)
                                .text()))
                        .toList();
                for (Future<String> text : texts) {
                    text.get();
                }
                double half = processors();
                long between = System.nanoTime();
                List<Row> outputs = rows.collectAsList();
                long end = System.nanoTime();
                assertEquals(ROWS, outputs.size());
                for (Row row : outputs) {
                    assertEquals(texts.get(row.getInt(0)).get(), row.getString(2), row.toString());
                }
                if (i >= 0) {
                    alone[i] = (between - begin) / 1e9;
                    spark[i] = (end - between) / 1e9;
                    work[i] = (processors() - half) / (half - idle);
                }
            }
            tell(executors, alone, spark, work);
        } finally {
            session.stop();
        }
    }

    private static void tell(int executors, double[] alone, double[] spark, double[] work) {
        double[] ratios = new double[ROUNDS];
        Arrays.setAll(ratios, i -> spark[i] / alone[i]);
        System.out.printf(
                Locale.ROOT,
                "%d executors: %.1f rows/s, engine alone with %d threads %.1f rows/s, time %.3f (%.3f to %.3f), processor time"
                        + " %.3f%n",
                executors,
                ROWS / median(spark),
                executors,
                ROWS / median(alone),
                median(ratios),
                Arrays.stream(ratios).min().orElseThrow(),
                Arrays.stream(ratios).max().orElseThrow(),
                median(work));
    }

    /// {@return seconds of processors that this process and its executors took: a machine's other work changes them
    ///     less than the time}
    private static double processors() {
        ProcessHandle self = ProcessHandle.current();
        return Stream.concat(Stream.of(self), self.descendants())
                .mapToDouble(each ->
                        each.info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / 1e3)
                .sum();
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
