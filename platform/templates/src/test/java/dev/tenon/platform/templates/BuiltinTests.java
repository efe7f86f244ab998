package dev.tenon.platform.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ModelFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// Every filter, test, global and statement of Jinja2 3.1.6, and every method of Python 3.11's
/// `str`, `dict`, `list` and `tuple`: each is there, or refused by name. What is expected was
/// rendered by Jinja2, set up as Hugging Face does; `from_json` is Python's `json.loads`.
class BuiltinTests {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-02-03T04:05:06Z"), ZoneOffset.UTC);

    private static JsonNode table() throws IOException {
        try (InputStream in = BuiltinTests.class.getResourceAsStream("/templates/builtins.json")) {
            return JSON.readTree(in);
        }
    }

    private static String render(String source, Map<String, Object> variables) {
        return new JinjaTemplateEngine(CLOCK).compile(source).render(variables);
    }

    @TestFactory
    List<DynamicTest> eachIsThereOrRefusedByName() throws IOException {
        JsonNode table = table();
        Map<String, Object> variables = JSON.convertValue(table.get("variables"), new TypeReference<>() {});
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode row : table.get("rows")) {
            String name = row.get("kind").asText() + " " + row.get("name").asText();
            tests.add(DynamicTest.dynamicTest(name, () -> check(row, variables)));
        }
        assertTrue(tests.size() > 200);
        return tests;
    }

    private static void check(JsonNode row, Map<String, Object> variables) {
        if (row.has("expected")) {
            assertEquals(
                    row.get("expected").asText(), render(row.get("template").asText(), variables));
            return;
        }
        ModelFormatException e = assertThrows(
                ModelFormatException.class, () -> render(row.get("refused").asText(), variables));
        assertTrue(e.getMessage().contains(row.get("name").asText()), e.getMessage());
    }

    @TestFactory
    List<DynamicTest> whatJinjaRefusesIsRefused() throws IOException {
        JsonNode table = table();
        Map<String, Object> variables = JSON.convertValue(table.get("variables"), new TypeReference<>() {});
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode source : table.get("refused_by_jinja")) {
            tests.add(DynamicTest.dynamicTest(
                    source.asText(),
                    () -> assertThrows(ModelFormatException.class, () -> render(source.asText(), variables))));
        }
        assertTrue(tests.size() > 60);
        return tests;
    }
}
