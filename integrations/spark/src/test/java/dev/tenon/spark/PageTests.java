package dev.tenon.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What `docs/spark.md` says in Java, SQL and properties is so.
class PageTests {
    private static final Path PAGE = Path.of("../../docs/spark.md");

    private static SparkSession session;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() throws IOException {
        Properties properties = new Properties();
        properties.load(new StringReader(pieces("properties").getFirst().replace("models/story.gguf", Story.MODEL)));
        session = Story.session("local[2]", builder -> {
            properties.forEach((key, value) -> builder.config((String) key, (String) value));
            return builder;
        });
        Story.rows(session, List.of("Once upon a time", "The dog")).createOrReplaceTempView("prompts");
    }

    @AfterAll
    static void stop() {
        session.stop();
    }

    private static List<String> pieces(String language) throws IOException {
        return Pattern.compile("```" + language + "\n(.*?)\n```", Pattern.DOTALL)
                .matcher(Files.readString(PAGE))
                .results()
                .map(piece -> piece.group(1))
                .toList();
    }

    @Test
    void thePageHasTheOptions() throws IOException {
        String table = Arrays.stream(TenonOption.values())
                .map(each -> "| `" + each.key() + "` | " + (each.value().isEmpty() ? "" : "`" + each.value() + "`")
                        + " | " + each.meaning() + " |\n")
                .collect(Collectors.joining());
        String page = Files.readString(PAGE);
        assertTrue(page.contains("| --- | --- | --- |\n" + table), () -> "The page's table should be\n" + table);
    }

    @Test
    void thePagesSqlRuns() throws IOException {
        List<String> statements = List.of(String.join("\n", pieces("sql")).split(";"));
        assertEquals(3, statements.size());
        List<Row> texts = session.sql(statements.get(0)).collectAsList();
        assertTrue(texts.size() == 2 && !texts.get(0).isNullAt(1), texts.toString());
        assertTrue(session.sql(statements.get(1)).collectAsList().stream().allMatch(row -> row.isNullAt(1)));
        assertEquals(
                List.of("name", "age"),
                List.of(session.sql(statements.get(2)).schema().fieldNames()));
    }

    @Test
    void thePagesJavaRuns() throws Exception {
        String pieces = String.join("\n", pieces("java")).replace("models/story.gguf", Story.MODEL);
        Path source = Files.writeString(folder.resolve("Piece.java"), """
                import dev.tenon.spark.*;
                import org.apache.spark.sql.*;
                public class Piece {
                    public static Dataset<Row> run(Dataset<Row> prompts) {
                """ + pieces + "\nreturn people;\n}\n}\n");
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        String path = System.getProperty("java.class.path");
        int status = ToolProvider.getSystemJavaCompiler()
                .run(null, messages, messages, "-cp", path, "-d", folder.toString(), source.toString());
        assertEquals(0, status, messages.toString());
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, PageTests.class.getClassLoader())) {
            Dataset<?> people = (Dataset<?>)
                    loader.loadClass("Piece").getMethod("run", Dataset.class).invoke(null, session.table("prompts"));
            assertEquals(List.of("text", "name", "age", "error"), List.of(people.columns()));
            assertEquals(2, people.collectAsList().size());
        }
    }
}
