package dev.tenon.platform.grammar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.platform.grammar.expr.GrammarException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The tests of json-schema-org: no invalid instance is accepted; valid ones are, where the schema
/// compiles and the instance is written as it would be.
class SchemaSuiteTests {
    private static final ObjectMapper JSON =
            new ObjectMapper().enable(com.fasterxml.jackson.databind.DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    @ParameterizedTest
    @ValueSource(strings = {"draft2020-12", "draft7", "formats"})
    void invalidInstancesAreRefusedAndMostValidOnesAccepted(String draft) throws IOException, URISyntaxException {
        List<String> unsound = new ArrayList<>();
        List<String> missed = new ArrayList<>();
        TreeMap<String, Integer> refused = new TreeMap<>();
        int schemas = 0;
        int valid = 0;
        int invalid = 0;
        for (Path file : files(draft)) {
            for (JsonNode group : JSON.readTree(file.toFile())) {
                schemas++;
                String schema = group.get("schema").toString();
                if (draft.equals("draft7")
                        && group.get("schema").isObject()
                        && !group.get("schema").has("$schema")) {
                    schema = schema.replaceFirst(
                            "\\{",
                            "{\"\\$schema\":\"http://json-schema.org/draft-07/schema#\""
                                    + (group.get("schema").isEmpty() ? "" : ","));
                }
                Grammar grammar;
                try {
                    grammar = Grammar.ofJsonSchema(schema);
                } catch (GrammarException e) {
                    refused.merge(e.keyword().isEmpty() ? e.getMessage() : e.keyword(), 1, Integer::sum);
                    continue;
                }
                for (JsonNode test : group.get("tests")) {
                    String name =
                            file.getFileName() + ": " + group.get("description").asText() + ": "
                                    + test.get("description").asText();
                    String text = test.get("data").toString();
                    boolean accepted = grammar.matches(text);
                    if (test.get("valid").asBoolean()) {
                        valid++;
                        if (!accepted) {
                            missed.add(name + ": " + text);
                        }
                    } else {
                        invalid++;
                        if (accepted) {
                            unsound.add(name + ": " + text);
                        }
                    }
                }
            }
        }
        int mostMissed = draft.equals("formats") ? valid : valid / 50;
        assertTrue(missed.size() <= mostMissed, () -> missed.size() + " valid instances were refused: " + missed);
        assertTrue(refused.values().stream().mapToInt(n -> n).sum() <= schemas / 3, "refused: " + refused);
        assertTrue(invalid > 100, invalid + " invalid instances");
        assertEquals(List.of(), unsound);
    }

    private static List<Path> files(String draft) throws IOException, URISyntaxException {
        Path folder =
                Path.of(Objects.requireNonNull(SchemaSuiteTests.class.getResource("/json-schema-test-suite/" + draft))
                        .toURI());
        try (var files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }
}
