package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Schemas, patterns and grammars that cost much, beside other requests: they end with an answer or an error that says
/// what is too much, and others get what they get alone.
@Timeout(600)
class HeavyGrammarTests {
    private static final ObjectMapper JSON = new ObjectMapper();

    /// Requests' fields that cost much, by what they are.
    private static Map<String, String> heavy() throws Exception {
        Map<String, String> fields = new LinkedHashMap<>();
        SplittableRandom random = new SplittableRandom(11);
        fields.put("nested counts", pattern("(((a{0,99}){0,99}){0,99}){0,99}"));
        fields.put("nested counts that are allowed", pattern("((a{0,40}){0,40}){0,40}"));
        fields.put("guesses", pattern("^(a|b)*a(a|b){300}$"));
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < 90; i++) {
            texts.add("x".repeat(10_000) + i);
        }
        fields.put("long values", schema(Map.of("enum", texts)));
        fields.put("ambiguous rules", grammar("root ::= a{0,99}\na ::= b{0,99}\nb ::= c{0,99}\nc ::= [a-z ]{0,99}"));
        fields.put("references", schema(references()));
        for (int i = 0; i < 4; i++) {
            fields.put("random pattern " + i, pattern(pattern(random, 4)));
            fields.put("random grammar " + i, grammar(rules(random)));
            fields.put("random schema " + i, schema(Map.of("allOf", schemas(random))));
        }
        return fields;
    }

    private static String schema(Object schema) throws Exception {
        return "\"json_schema\":" + JSON.writeValueAsString(schema);
    }

    private static String pattern(String pattern) throws Exception {
        return schema(Map.of("type", "string", "pattern", pattern));
    }

    private static String grammar(String grammar) throws Exception {
        return "\"grammar\":" + JSON.writeValueAsString(grammar);
    }

    private static Map<String, Object> references() {
        Map<String, Object> rules = new LinkedHashMap<>();
        for (int i = 0; i < 40; i++) {
            Object next = Map.of("$ref", "#/$defs/d" + (i + 1));
            rules.put("d" + i, Map.of("allOf", List.of(next, next)));
        }
        rules.put("d40", Map.of("type", "string"));
        return Map.of("$ref", "#/$defs/d0", "$defs", rules);
    }

    private static String pattern(SplittableRandom random, int depth) {
        if (depth == 0) {
            return List.of("a", "[a-z]", ".", "b?", "\\w", "\\p{L}").get(random.nextInt(6));
        }
        String part = pattern(random, depth - 1);
        return switch (random.nextInt(6)) {
            case 0 -> "(" + part + "){0," + random.nextInt(1, 60) + "}";
            case 1 -> "(" + part + "|" + pattern(random, depth - 1) + ")*";
            case 2 -> part + ".{" + random.nextInt(1, 40) + "}" + pattern(random, depth - 1);
            case 3 -> "(" + part + "){" + random.nextInt(1, 9) + ",}" + pattern(random, depth - 1);
            case 4 -> "(" + part + pattern(random, depth - 1) + ")?";
            default -> part + "|" + pattern(random, depth - 1);
        };
    }

    private static String rules(SplittableRandom random) {
        StringBuilder rules = new StringBuilder("root ::= r0\n");
        for (int i = 0; i < 8; i++) {
            rules.append("r").append(i).append(" ::= ");
            for (int part = random.nextInt(1, 4); part >= 0; part--) {
                String item = i == 7 || random.nextInt(3) == 0 ? "[a-z]" : "r" + random.nextInt(i + 1, 8);
                String times = List.of("", "*", "?", "{0,30}", "+", "{2,}").get(random.nextInt(6));
                rules.append(item).append(times).append(random.nextInt(3) == 0 && part > 0 ? " | " : " ");
            }
            rules.append("\n");
        }
        return rules.toString();
    }

    private static List<Object> schemas(SplittableRandom random) {
        List<Object> all = new ArrayList<>(List.of(Map.of("type", "string", "minLength", 3)));
        for (int i = random.nextInt(2, 6); i > 0; i--) {
            Object part = Map.of("pattern", pattern(random, 2));
            all.add(random.nextBoolean() ? part : Map.of("anyOf", List.of(part, Map.of("maxLength", 9 * i))));
        }
        return all;
    }

    private static String free(int seed, String more) {
        return "{\"prompt\":\"Once upon a time\",\"seed\":" + seed + ",\"temperature\":1,\"max_tokens\":60" + more
                + "}";
    }

    @Test
    void othersGetWhatTheyGetAlone() throws Exception {
        try (ServerFixture server = new ServerFixture();
                ExecutorService threads = Executors.newFixedThreadPool(6)) {
            List<String> alone = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                alone.add(text(server, i));
            }
            List<Future<?>> others = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                int seed = i;
                others.add(threads.submit(() -> {
                    for (int round = 0; round < 10; round++) {
                        assertEquals(alone.get(seed), text(server, seed));
                    }
                    return null;
                }));
            }
            List<Future<?>> heavy = new ArrayList<>();
            for (Map.Entry<String, String> each : heavy().entrySet()) {
                heavy.add(threads.submit(() -> {
                    endsWell(server, each.getKey(), "," + each.getValue());
                    return null;
                }));
            }
            for (Future<?> each : others) {
                each.get();
            }
            for (Future<?> each : heavy) {
                each.get();
            }
        }
    }

    private static String text(ServerFixture server, int seed) throws Exception {
        return server.answer("/v1/completions", free(seed, ""))
                .at("/choices/0/text")
                .asText();
    }

    /// The answer is one, or says what is too much; that of a stream does so in an event.
    private static void endsWell(ServerFixture server, String name, String fields) throws Exception {
        HttpResponse<String> response = server.post("/v1/completions", free(1, fields));
        JsonNode answer = ServerFixture.json(response.body());
        if (response.statusCode() == 200) {
            assertTrue(answer.at("/choices/0/finish_reason").isTextual(), () -> name + ": " + answer);
        } else {
            assertRefused(name, answer);
            assertEquals(400, response.statusCode(), () -> name + ": " + answer);
        }
        HttpResponse<String> stream = server.post("/v1/completions", free(1, fields + ",\"stream\":true"));
        List<String> events =
                stream.body().lines().filter(line -> !line.isBlank()).toList();
        String last = events.getLast().replaceFirst("^data: ", "");
        if (!last.equals("[DONE]")) {
            assertRefused(name, ServerFixture.json(last));
        }
    }

    private static void assertRefused(String name, JsonNode answer) {
        assertTrue(
                answer.at("/error/message").asText().matches("(?s).*\\[GRAMMAR-00[23]]"), () -> name + ": " + answer);
        assertEquals("unsupported_grammar", answer.at("/error/code").asText(), () -> name + ": " + answer);
    }

    @Test
    void whatIsTooMuchIsRefusedBeforeAnythingRuns() throws Exception {
        try (ServerFixture server = new ServerFixture()) {
            for (String fields : List.of(
                    pattern("(((a{0,99}){0,99}){0,99}){0,99}"),
                    grammar("root ::= ((\"a\"{0,500} \"b\"?){0,500}){0,500}"))) {
                JsonNode error = server.error(400, "/v1/completions", free(1, ",\"stream\":true," + fields));
                assertTrue(error.get("message").asText().endsWith("[GRAMMAR-003]"), error::toString);
            }
        }
    }
}
