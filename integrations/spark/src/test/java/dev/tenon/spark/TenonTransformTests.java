package dev.tenon.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// The transform in one process.
class TenonTransformTests {
    private static SparkSession session;

    @BeforeAll
    static void start() {
        session = Story.session("local[2]", builder -> builder.config("spark.files", Story.MODEL));
    }

    @AfterAll
    static void stop() {
        session.stop();
    }

    private static Dataset<Row> rows(String... texts) {
        return Story.rows(session, Arrays.asList(texts));
    }

    private static TenonTransform complete(int maxTokens) {
        return TenonTransform.complete().options(Story.options(maxTokens));
    }

    private static List<String> outputs(Dataset<Row> rows) {
        return rows.select("output").as(Encoders.STRING()).collectAsList();
    }

    @Test
    void rowsAreThoseOfOneProcessHoweverTheyAreParted() {
        List<String> prompts = Story.prompts(24);
        List<String> expected = Story.plain(prompts, 12);
        TenonMetrics metrics = TenonMetrics.of(session);
        metrics.reset();
        Dataset<Row> one = complete(12).apply(Story.rows(session, prompts).coalesce(1));
        assertEquals(expected, outputs(one), "in their order");
        assertEquals(24, metrics.rows().value());
        assertEquals(0, metrics.errors().value());
        assertTrue(metrics.outputTokens().value() > 24, metrics.toString());
        for (int count : new int[] {3, 40}) {
            Dataset<Row> parted = complete(12)
                    .option("sequences", 8)
                    .apply(Story.rows(session, prompts).repartition(count))
                    .orderBy("id");
            assertEquals(expected, outputs(parted), count + " partitions");
        }
        assertTrue(metrics.models().value() <= 1, "one model for all: " + metrics);
        assertNotEquals(expected, outputs(complete(12).option("seed", 1).apply(Story.rows(session, prompts))));
    }

    @Test
    void aKeyTellsEqualTextsApart() {
        Dataset<Row> twice = rows("Once upon a time", "Once upon a time").coalesce(1);
        assertEquals(1, new HashSet<>(outputs(complete(12).apply(twice))).size());
        assertEquals(
                2, new HashSet<>(outputs(complete(12).option("keyCol", "ID").apply(twice))).size());
    }

    @Test
    void aRowThatFailsHasAnErrorAndTheOthersTheirOutput() {
        TenonMetrics metrics = TenonMetrics.of(session);
        metrics.reset();
        List<Row> rows = complete(4)
                .option("usageCol", "usage")
                .apply(rows("Once", "word ".repeat(600), null, "The dog").coalesce(1))
                .collectAsList();
        assertEquals(4, rows.size());
        assertEquals(
                List.of("id", "text", "output", "error", "usage"),
                List.of(rows.get(0).schema().fieldNames()));
        for (int good : new int[] {0, 3}) {
            assertTrue(!rows.get(good).getString(2).isEmpty());
            assertNull(rows.get(good).get(3));
            assertEquals(4, rows.get(good).getStruct(4).getInt(2));
            assertEquals("LENGTH", rows.get(good).getStruct(4).getString(3));
        }
        assertNull(rows.get(1).get(2));
        assertTrue(
                rows.get(1).getString(3).startsWith("LIMIT-001 "), rows.get(1).toString());
        assertNull(rows.get(2).get(2));
        assertNull(rows.get(2).get(3));
        assertNull(rows.get(2).get(4));
        assertEquals(2, metrics.rows().value());
        assertEquals(1, metrics.errors().value());
        assertEquals(8, metrics.outputTokens().value());
    }

    @Test
    void aChatWithASchemaGivesColumns() {
        Dataset<Row> heroes = TenonTransform.chat()
                .options(Story.options(400))
                .option("system", "You are brief.")
                .option("schema", "kind STRUCT<good: BOOLEAN, level: TINYINT>, marks ARRAY<BOOLEAN>")
                .apply(rows("Invent a hero.", "Invent a cat.", "Invent a ship."));
        List<Row> rows = heroes.select("id", "output.*", "error").collectAsList();
        assertEquals(3, rows.size());
        int whole = 0;
        for (Row row : rows) {
            if (row.isNullAt(3)) {
                whole++;
                assertTrue(row.getStruct(1).get(0) instanceof Boolean, row.toString());
                assertTrue(row.getStruct(1).get(1) instanceof Byte, row.toString());
                row.getList(2).forEach(mark -> assertTrue(mark instanceof Boolean, row.toString()));
            } else {
                assertTrue(row.getString(3).startsWith("JAVA-002 "), row.toString());
            }
        }
        assertTrue(whole > 0, rows.toString());
    }

    @Test
    void textsBecomeVectorsAndDocumentsGetScores() {
        List<Row> vectors = TenonTransform.embed()
                .option("model", Story.golden("bert.q8_0.gguf"))
                .apply(rows("a b", "c", null))
                .collectAsList();
        for (int i = 0; i < 2; i++) {
            double sum = 0;
            for (Object element : vectors.get(i).getList(2)) {
                sum += (Float) element * (Float) element;
            }
            assertEquals(1, sum, 1e-4);
        }
        assertNull(vectors.get(2).get(2));
        List<Row> scores = TenonTransform.score()
                .option("model", Story.golden("bert-rerank.q8_0.gguf"))
                .option("inputCol", "document")
                .apply(session.sql("SELECT * FROM VALUES ('a', 'b c'), ('a', 'd') AS t(query, document)"))
                .collectAsList();
        assertEquals(2, scores.size());
        assertNotEquals(scores.get(0).getFloat(2), scores.get(1).getFloat(2));
    }

    @Test
    void wrongOptionsAreToldBeforeAnythingRuns() {
        Map<TenonTransform, String> wrong = Map.of(
                TenonTransform.complete(), "The option model is missing",
                complete(4).option("sequence", 3), "There is no option sequence; there are [model",
                complete(4).option("maxTokens", "many"), "The option maxTokens is 'many'; expected a number",
                complete(4).option("sequences", 0), "The option sequences is '0'; expected a number from 1",
                complete(4).option("inputCol", "prompt"), "There is no column prompt; there are id, text",
                complete(4).option("inputCol", "id"), "The column id is INT; inputCol needs STRING",
                complete(4).option("outputCol", "TEXT"), "There is a column text already. Set outputCol",
                complete(4).option("schema", "a DATE"), "An answer cannot have the type DATE");
        List<String> found = new ArrayList<>();
        wrong.forEach((transform, message) -> {
            String text = assertThrows(IllegalArgumentException.class, () -> transform.apply(rows("a")))
                    .getMessage();
            if (!text.startsWith(message)) {
                found.add(text);
            }
        });
        assertEquals(List.of(), found);
    }

    @Test
    void aModelOfTheJobsFilesIsNamedAlone() {
        Dataset<Row> rows =
                complete(4).option("model", Path.of(Story.MODEL).getFileName()).apply(rows("The dog"));
        assertEquals(Story.plain(List.of("The dog"), 4), outputs(rows));
    }

    @Test
    void aModelThatIsNotThereFailsTheJob() {
        Dataset<Row> rows =
                TenonTransform.complete().option("model", "/nowhere/story.gguf").apply(rows("a"));
        String text = assertThrows(Exception.class, rows::collectAsList).toString();
        assertTrue(text.contains("/nowhere/story.gguf"), text);
    }
}
