package dev.tenon.spark;

import dev.tenon.Model;
import dev.tenon.Tenon;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;

/// The embedded model, in one process and over rows of Spark.
public final class Story {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
    public static final String MODEL = ROOT.resolve("platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf")
            .toString();
    private static final List<String> BEGINNINGS =
            List.of("Once upon a time", "The dog", "A little girl named", "One day", "In a big forest");

    private Story() {}

    /// {@return a file of a model of the golden tests}
    static String golden(String file) {
        return ROOT.resolve("itest/golden/src/test/resources/golden/models-more")
                .resolve(file)
                .toString();
    }

    /// {@return a session with a new context}
    ///
    /// @param master such as `local[2]`
    /// @param more changes the builder
    public static SparkSession session(String master, UnaryOperator<SparkSession.Builder> more) {
        SparkSession.Builder builder = SparkSession.builder()
                .master(master)
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.sql.shuffle.partitions", "2");
        return more.apply(builder).getOrCreate();
    }

    /// {@return a session whose executors are processes of this machine with the class path of this one, of one core
    ///     each}
    public static SparkSession cluster(int executors, UnaryOperator<SparkSession.Builder> more) {
        try {
            // Spark looks for jars there, which have to be a folder.
            Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return session(
                "local-cluster[" + executors + ",1,1024]",
                builder -> more.apply(
                        builder.config("spark.executor.extraClassPath", System.getProperty("java.class.path"))
                                .config("spark.executor.cores", 1)));
    }

    static List<String> prompts(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> BEGINNINGS.get(i % BEGINNINGS.size()) + " " + i + " ")
                .toList();
    }

    /// {@return rows of id and text}
    static Dataset<Row> rows(SparkSession session, List<String> texts) {
        List<Row> rows = IntStream.range(0, texts.size())
                .mapToObj(i -> RowFactory.create(i, texts.get(i)))
                .toList();
        return session.createDataFrame(rows, StructType.fromDDL("id INT, text STRING"));
    }

    public static Map<String, String> options(int maxTokens) {
        return Map.of("model", MODEL, "contextLength", "512", "maxTokens", "" + maxTokens);
    }

    /// {@return the texts in one process, without Spark}
    static List<String> plain(List<String> prompts, int maxTokens) {
        try (Model model = Tenon.model(MODEL).contextLength(512).requests(8).load()) {
            return prompts.parallelStream()
                    .map(prompt -> model.completion(prompt)
                            .maxNewTokens(maxTokens)
                            .seed(TaskAnswers.seed(0, prompt, "null"))
                            .text())
                    .toList();
        }
    }
}
