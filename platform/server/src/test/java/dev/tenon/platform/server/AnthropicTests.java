package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What clients of Anthropic's wire send and read besides a conversation. The limit on time ends a hang.
@Timeout(120)
class AnthropicTests {
    private static final String PATH = "/v1/messages";
    private static final String BODY =
            "{\"model\":\"story\",\"max_tokens\":4,\"temperature\":0,\"messages\":[{\"role\":\"user\",\"content\":\"A fox.\"}]%s}";

    private static ServerFixture server;

    @BeforeAll
    static void start() {
        server = new ServerFixture();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"context_management\":{\"edits\":[{\"type\":\"clear_tool_uses_20250919\"}]}",
                "\"output_config\":{\"effort\":\"high\",\"task_budget\":{\"type\":\"tokens\",\"total\":20000}}",
                "\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
                "\"system\":[{\"type\":\"text\",\"text\":\"Tell.\",\"cache_control\":{\"type\":\"ephemeral\"}}]",
                "\"thread\":{\"type\":\"create\"}",
                "\"thread\":null,\"container\":null,\"speed\":null,\"diagnostics\":{}",
                "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2048,\"display\":\"summarized\"}",
                "\"thinking\":{\"type\":\"adaptive\"}",
                "\"thinking\":{\"type\":\"disabled\"}",
                "\"service_tier\":\"auto\",\"metadata\":{\"user_id\":\"u\"},\"inference_geo\":\"eu\"",
                "\"betas\":[\"context-management-2025-06-27\"],\"mcp_servers\":[]",
                "\"tools\":[{\"type\":\"custom\",\"name\":\"now\",\"input_schema\":{\"type\":\"object\"},"
                        + "\"cache_control\":{\"type\":\"ephemeral\"},\"eager_input_streaming\":true}]",
            })
    void whatCurrentClientsSendIsTaken(String fields) throws Exception {
        JsonNode answer = server.answer(PATH, BODY.formatted("," + fields));
        assertEquals("message", answer.get("type").asText());
        server.answer(PATH + "/count_tokens", BODY.formatted("," + fields));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"mcp_servers\":[{\"type\":\"url\",\"url\":\"https://a.example\",\"name\":\"a\"}]",
                "\"container\":\"c_1\"",
                "\"thinking\":{\"type\":\"perhaps\"}",
                "\"output_config\":{\"colour\":1}",
                "\"output_config\":{\"format\":{\"type\":\"yaml\"}}",
                "\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}]",
            })
    void whatCannotBeDoneIsRefusedByName(String fields) throws Exception {
        String name = fields.substring(1, fields.indexOf('"', 1));
        JsonNode error = server.error(400, PATH, BODY.formatted("," + fields));
        assertEquals("invalid_request_error", error.get("type").asText());
        assertTrue(
                error.get("message").asText().contains(name)
                        || error.get("message").asText().contains("colour"),
                error::toString);
    }

    /// The client then sends the whole conversation.
    @Test
    void aThreadIsNotFound() throws Exception {
        JsonNode error = server.error(
                404, PATH, BODY.formatted(",\"thread\":{\"type\":\"continue\",\"previous_message_id\":\"msg_1\"}"));
        assertEquals("thread_not_found", error.at("/details/error_code").asText());
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"output_config\":{\"format\":%s}", "\"output_format\":%s"})
    void aFormatIsEnforced(String field) throws Exception {
        String format =
                "{\"type\":\"json_schema\",\"schema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\","
                        + "\"minimum\":1,\"maximum\":9}},\"required\":[\"n\"],\"additionalProperties\":false}}";
        JsonNode answer = server.answer(
                PATH, BODY.replace("\"max_tokens\":4", "\"max_tokens\":60").formatted("," + field.formatted(format)));
        int n = ServerFixture.json(answer.at("/content/0/text").asText())
                .get("n")
                .asInt();
        assertTrue(n >= 1 && n <= 9, answer::toString);
        assertEquals("end_turn", answer.get("stop_reason").asText());
    }

    /// A page of the cache has 64 tokens.
    private static final String LONG = "You tell tales of foxes, hens and the sea. ".repeat(12);

    private static JsonNode usage(String header) throws Exception {
        String system = ",\"system\":[{\"type\":\"text\",\"text\":\"" + header + "\"},{\"type\":\"text\",\"text\":\""
                + LONG + "\",\"cache_control\":{\"type\":\"ephemeral\"}}]";
        return server.answer(PATH, BODY.formatted(system)).get("usage");
    }

    @Test
    void aHeaderThatChangesLeavesThePromptToTheCache() throws Exception {
        usage("x-anthropic-billing-header: cc_version=2.1.37.a3b; cc_entrypoint=cli; cch=00000;");
        for (String header : List.of(
                "x-anthropic-billing-header: cc_version=2.1.37.a3b; cc_entrypoint=cli; cch=7f3a9;",
                "x-anthropic-billing-header:cc_version=9.0;cch=b;",
                "x-other-caller: run=17;\\n")) {
            assertTrue(usage(header).get("cache_read_input_tokens").asInt() >= 64, header);
        }
        int without = usage("x-a: b=1;").get("input_tokens").asInt();
        for (String text : List.of("x-anthropic-billing-header is a header", "x-a: b=1; and prose", "Use x-a: b=1;")) {
            JsonNode usage = usage(text);
            assertTrue(
                    usage.get("input_tokens").asInt()
                                    + usage.get("cache_read_input_tokens").asInt()
                            > without,
                    "this is text of the user's: " + text);
        }
    }

    @Test
    void aStreamBeginsWithTheTrueCounts() throws Exception {
        String body = BODY.formatted(",\"stream\":true,\"system\":\"" + LONG + " Now.\"");
        server.events(PATH, body);
        List<JsonNode> events = server.events(PATH, body);
        JsonNode start = events.getFirst().at("/message/usage");
        JsonNode end = events.get(events.size() - 2).get("usage");
        assertTrue(start.get("input_tokens").asInt() > 0, start::toString);
        assertTrue(start.get("cache_read_input_tokens").asInt() >= 64, start::toString);
        assertEquals(end.get("input_tokens"), start.get("input_tokens"));
        assertEquals(end.get("cache_read_input_tokens"), start.get("cache_read_input_tokens"));
        assertEquals(
                server.answer(PATH + "/count_tokens", body).get("input_tokens").asInt(),
                start.get("input_tokens").asInt()
                        + start.get("cache_read_input_tokens").asInt());
    }

    @Test
    void answersAndErrorsHaveTheIdThatClientsShow() throws Exception {
        for (String body : List.of(BODY.formatted(""), "{}")) {
            HttpResponse<String> answer = server.send(server.request(PATH, body).header("X-Request-Id", "mine"));
            assertEquals("mine", answer.headers().firstValue("request-id").orElseThrow());
        }
    }

    @Test
    void modelsAreListedInTheClientsForm() throws Exception {
        HttpRequest.Builder list =
                HttpRequest.newBuilder(server.uri("/v1/models?limit=1000")).header("anthropic-version", "2023-06-01");
        JsonNode models = ServerFixture.json(server.send(list).body());
        assertEquals("model", models.at("/data/0/type").asText());
        assertEquals("story", models.at("/data/0/id").asText());
        assertEquals("story", models.get("last_id").asText());
        assertEquals(512, models.at("/data/0/max_input_tokens").asInt());
        assertTrue(models.at("/data/0/created_at").asText().endsWith("Z"));
        assertNull(models.get("object"));
        HttpRequest.Builder one =
                HttpRequest.newBuilder(server.uri("/v1/models/story")).header("anthropic-version", "2023-06-01");
        assertEquals(models.at("/data/0"), ServerFixture.json(server.send(one).body()));
        assertEquals(
                "list",
                ServerFixture.json(server.get("/v1/models").body())
                        .get("object")
                        .asText());
    }
}
