package dev.tenon.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Functions of SQL that configuration alone sets up.
class TenonCatalogTests {
    private static SparkSession session;

    @BeforeAll
    static void start() {
        session = Story.session("local[2]", builder -> {
            catalog(builder, "tenon", Story.MODEL).config("spark.sql.catalog.tenon.contextLength", 512);
            catalog(builder, "people", Story.MODEL)
                    .config("spark.sql.catalog.people.maxTokens", 200)
                    .config("spark.sql.catalog.people.schema", "good BOOLEAN, level TINYINT");
            catalog(builder, "encoder", Story.golden("bert.q8_0.gguf"));
            return catalog(builder, "ranker", Story.golden("bert-rerank.q8_0.gguf"));
        });
        Story.rows(session, Story.prompts(6)).repartition(3).createOrReplaceTempView("prompts");
    }

    private static SparkSession.Builder catalog(SparkSession.Builder builder, String name, String model) {
        String key = "spark.sql.catalog." + name;
        return builder.config(key, TenonCatalog.class.getName())
                .config(key + ".model", model)
                .config(key + ".maxTokens", 12);
    }

    @AfterAll
    static void stop() {
        session.stop();
    }

    @Test
    void complete() {
        assertEquals(
                Story.plain(Story.prompts(6), 12),
                session.sql("SELECT tenon.complete(text) FROM prompts ORDER BY id")
                        .as(Encoders.STRING())
                        .collectAsList());
        assertEquals(
                session.sql("SELECT tenon.complete('The dog')").first(),
                session.sql("SELECT tenon.COMPLETE('The dog')").first());
        assertNull(session.sql("SELECT tenon.complete(NULL)").first().get(0));
    }

    @Test
    void aFunctionRunsOnceForARowAndNotAtTheDriver() {
        TenonMetrics metrics = TenonMetrics.of(session);
        metrics.reset();
        List<Row> rows = session.sql("SELECT r.value, r.error FROM (SELECT id, tenon.try_complete(text) r FROM prompts)"
                        + " WHERE r.error IS NULL AND length(r.value) > 0")
                .collectAsList();
        assertEquals(6, rows.size());
        assertEquals(6, metrics.rows().value());
        metrics.reset();
        session.sql("SELECT tenon.complete('Once upon a time')").explain(true);
        assertEquals(0, metrics.rows().value());
    }

    @Test
    void errorsAreNullOrTold() {
        Row row = session.sql("SELECT tenon.complete(t), tenon.try_complete(t) FROM (SELECT repeat('word ', 600) t)")
                .first();
        assertNull(row.get(0));
        assertNull(row.getStruct(1).get(0));
        assertTrue(row.getStruct(1).getString(1).startsWith("LIMIT-001 "), row.toString());
    }

    @Test
    void aSchemaGivesFields() {
        List<Row> rows = session.sql("SELECT r.value.good, r.value.level, r.error FROM"
                        + " (SELECT people.try_chat(text) r FROM prompts)")
                .collectAsList();
        assertEquals(6, rows.size());
        assertTrue(
                rows.stream().anyMatch(row -> row.get(0) instanceof Boolean && row.get(1) instanceof Byte),
                rows.toString());
    }

    @Test
    void vectorsAndScores() {
        Row row = session.sql("SELECT encoder.embed('a b'), ranker.score('a', 'b c'), ranker.score('a', 'd')")
                .first();
        assertTrue(row.getList(0).get(0) instanceof Float, row.toString());
        assertTrue(row.getFloat(1) != row.getFloat(2), row.toString());
    }

    @Test
    void wrongCallsAreToldByTheAnalysis() {
        for (String call : List.of("tenon.complete()", "tenon.score('a')", "tenon.write('a')")) {
            String text = assertThrows(AnalysisException.class, () -> session.sql("SELECT " + call))
                    .getMessage();
            assertTrue(text.contains("tenon"), text);
        }
        List<String> names = session.sql("SHOW USER FUNCTIONS IN tenon")
                .as(Encoders.STRING())
                .collectAsList();
        assertEquals(8, names.size(), names.toString());
    }
}
