package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Responses, embeddings and Anthropic's messages.
class OtherEndpointsTests {
    private static ServerFixture server;

    @BeforeAll
    static void start() {
        server = new ServerFixture(builder -> builder.embeddings(true));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static List<String> types(List<JsonNode> events) {
        return events.stream().map(e -> e.get("type").asText()).toList();
    }

    @Test
    void aResponseHasAMessage() throws Exception {
        JsonNode answer = server.answer(
                "/v1/responses", "{\"input\":\"A tale of a fox.\",\"max_output_tokens\":6,\"temperature\":0}");
        assertEquals("response", answer.get("object").asText());
        assertEquals("incomplete", answer.get("status").asText());
        assertEquals("message", answer.at("/output/0/type").asText());
        assertEquals("output_text", answer.at("/output/0/content/0/type").asText());
        assertTrue(answer.at("/output/0/content/0/text").asText().length() > 3);
        assertEquals(6, answer.at("/usage/output_tokens").asInt());
    }

    @Test
    void eventsOfAResponseComeInOrder() throws Exception {
        String body = """
                {"input":[{"role":"user","content":[{"type":"input_text","text":"A tale of a fox."}]}],"instructions":"Tell.",
                 "max_output_tokens":6,"temperature":0,"stream":true}""";
        HttpResponse<String> raw = server.post("/v1/responses", body);
        assertTrue(raw.body().startsWith("event: response.created\ndata: "), raw::body);
        assertTrue(!raw.body().contains("[DONE]"));
        List<JsonNode> events = server.events("/v1/responses", body);
        List<String> types = types(events).stream().distinct().toList();
        assertEquals(
                List.of(
                        "response.created",
                        "response.in_progress",
                        "response.output_item.added",
                        "response.content_part.added",
                        "response.output_text.delta",
                        "response.output_text.done",
                        "response.content_part.done",
                        "response.output_item.done",
                        "response.incomplete"),
                types);
        for (int i = 0; i < events.size(); i++) {
            assertEquals(i, events.get(i).get("sequence_number").asInt());
        }
        String text = events.stream()
                .filter(e -> e.get("type").asText().endsWith("text.delta"))
                .map(e -> e.get("delta").asText())
                .collect(Collectors.joining());
        assertEquals(
                text, events.getLast().at("/response/output/0/content/0/text").asText());
    }

    @Test
    void whatAResponseCannotDoIsRefusedByName() throws Exception {
        assertEquals(
                "previous_response_id",
                server.error(400, "/v1/responses", "{\"input\":\"a\",\"previous_response_id\":\"x\"}")
                        .get("param")
                        .asText());
    }

    @Test
    void textsAreEmbedded() throws Exception {
        String body = "{\"model\":\"story\",\"input\":[\"a fox\",\"a fox\",\"the sea\"]%s}";
        JsonNode answer = server.answer("/v1/embeddings", body.formatted(""));
        assertEquals(3, answer.get("data").size());
        assertEquals(answer.at("/data/0/embedding"), answer.at("/data/1/embedding"));
        assertEquals(512, answer.at("/data/2/embedding").size());
        assertTrue(answer.at("/usage/prompt_tokens").asInt() >= 6);
        JsonNode coded = server.answer("/v1/embeddings", body.formatted(",\"encoding_format\":\"base64\""));
        ByteBuffer bytes = ByteBuffer.wrap(
                        Base64.getDecoder().decode(coded.at("/data/2/embedding").asText()))
                .order(ByteOrder.LITTLE_ENDIAN);
        for (JsonNode number : answer.at("/data/2/embedding")) {
            assertEquals(number.floatValue(), bytes.getFloat(), 1e-6f);
        }
        assertEquals(
                "input",
                server.error(400, "/v1/embeddings", "{\"input\":[]}")
                        .get("param")
                        .asText());
    }

    private static final String MESSAGES = """
            {"model":"story","max_tokens":6,"temperature":0,"system":"Tell.",
             "messages":[{"role":"user","content":[{"type":"text","text":"A tale of a fox."}]}]%s}""";

    @Test
    void aMessageIsAnswered() throws Exception {
        JsonNode answer = server.answer("/v1/messages", MESSAGES.formatted(""));
        assertEquals("message", answer.get("type").asText());
        assertEquals("text", answer.at("/content/0/type").asText());
        assertEquals("max_tokens", answer.get("stop_reason").asText());
        assertEquals(6, answer.at("/usage/output_tokens").asInt());
        int input = answer.at("/usage/input_tokens").asInt()
                + answer.at("/usage/cache_read_input_tokens").asInt();
        JsonNode count = server.answer("/v1/messages/count_tokens", MESSAGES.formatted(""));
        assertEquals(input, count.get("input_tokens").asInt());
    }

    @Test
    void eventsOfAMessageComeInOrder() throws Exception {
        List<JsonNode> events = server.events("/v1/messages", MESSAGES.formatted(",\"stream\":true"));
        assertEquals(
                List.of(
                        "message_start",
                        "content_block_start",
                        "content_block_delta",
                        "content_block_stop",
                        "message_delta",
                        "message_stop"),
                types(events).stream().distinct().toList());
        String text = events.stream().map(e -> e.at("/delta/text").asText()).collect(Collectors.joining());
        assertEquals(
                server.answer("/v1/messages", MESSAGES.formatted(""))
                        .at("/content/0/text")
                        .asText(),
                text);
    }

    @Test
    void theTextThatEndedAMessageIsNamed() throws Exception {
        String text = server.answer("/v1/messages", MESSAGES.formatted(""))
                .at("/content/0/text")
                .asText();
        String word = text.strip().split("\\s+")[1];
        JsonNode answer =
                server.answer("/v1/messages", MESSAGES.formatted(",\"stop_sequences\":[\"zzz\",\"" + word + "\"]"));
        assertEquals("stop_sequence", answer.get("stop_reason").asText());
        assertEquals(word, answer.get("stop_sequence").asText());
    }

    @Test
    void errorsOfMessagesHaveTheirForm() throws Exception {
        HttpResponse<String> refused = server.post("/v1/messages", "{\"messages\":[]}");
        assertEquals(400, refused.statusCode());
        assertEquals("error", ServerFixture.json(refused.body()).get("type").asText());
        assertEquals(
                "invalid_request_error",
                ServerFixture.json(refused.body()).at("/error/type").asText());
    }

    /// The model cannot call tools; that they are written and read without harm is tested here, how in
    /// ReplyParserTests.
    @Test
    void toolsAndTheirResultsBecomeAPrompt() throws Exception {
        JsonNode answer = server.answer("/v1/chat/completions", """
                {"messages":[{"role":"user","content":"When?"},
                  {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",
                    "function":{"name":"time","arguments":"{\\"zone\\":\\"UTC\\"}"}}]},
                  {"role":"tool","tool_call_id":"call_1","content":"noon"}],
                 "tools":[{"type":"function","function":{"name":"time","parameters":{"type":"object","properties":{}}}}],
                 "max_tokens":4}""");
        assertTrue(answer.at("/usage/prompt_tokens").asInt() > 100);
    }

    private static final String TOOLS = """
            {"messages":[{"role":"user","content":"When is it noon in Rome?"}],"temperature":1,"max_tokens":200,
             "tools":[{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{},
                        "additionalProperties":false}}},
                      {"type":"function","function":{"name":"time","parameters":{"type":"object","properties":
                       {"zone":{"type":"string","enum":["UTC","CET"]},"hour":{"type":"integer","minimum":0,"maximum":23}},
                        "required":["zone","hour"],"additionalProperties":false}}}]%s}""";

    private static void assertTimeCall(JsonNode function) {
        assertEquals("time", function.get("name").asText());
        JsonNode arguments = ServerFixture.json(function.get("arguments").asText());
        assertTrue(List.of("UTC", "CET").contains(arguments.get("zone").asText()), arguments::toString);
        assertTrue(arguments.get("hour").asInt(-1) >= 0 && arguments.get("hour").asInt() < 24, arguments::toString);
        assertEquals(2, arguments.size());
    }

    /// The model knows nothing of tools, so it is the grammar that makes the call.
    @Test
    void aForcedCallAlwaysParses() throws Exception {
        String named = TOOLS.formatted(",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"time\"}}%s");
        for (int seed = 0; seed < 5; seed++) {
            JsonNode choice = server.answer("/v1/chat/completions", named.formatted(",\"seed\":" + seed))
                    .at("/choices/0");
            assertEquals("tool_calls", choice.get("finish_reason").asText());
            assertTrue(choice.at("/message/content").isNull(), choice::toString);
            assertTimeCall(choice.at("/message/tool_calls/0/function"));
        }
        List<JsonNode> events = server.events("/v1/chat/completions", named.formatted(",\"seed\":0,\"stream\":true"));
        String arguments = events.stream()
                .map(e ->
                        e.at("/choices/0/delta/tool_calls/0/function/arguments").asText())
                .collect(Collectors.joining());
        assertTimeCall(((com.fasterxml.jackson.databind.node.ObjectNode) ServerFixture.json("{\"name\":\"time\"}"))
                .put("arguments", arguments));
        assertEquals(
                1,
                events.stream()
                        .filter(e -> e.at("/choices/0/delta/tool_calls/0/function/name")
                                .isTextual())
                        .count());
        String required = TOOLS.formatted(",\"tool_choice\":\"required\"%s");
        JsonNode any =
                server.answer("/v1/chat/completions", required.formatted(",\"seed\":0,\"parallel_tool_calls\":false"));
        assertEquals("tool_calls", any.at("/choices/0/finish_reason").asText());
        assertEquals(
                "tool_choice",
                server.error(
                                400,
                                "/v1/chat/completions",
                                TOOLS.formatted(
                                        ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"x\"}}"))
                        .get("param")
                        .asText());
    }

    /// After each call the model may end or call again. What it does is chance, and rounding decides with it: so every
    /// answer is right of its kind, and with enough of them there are some with several calls.
    @Test
    void severalForcedCallsAllParse() throws Exception {
        String required = TOOLS.formatted(",\"tool_choice\":\"required\",\"seed\":%d");
        int several = 0;
        for (int seed = 0; seed < 40 && several < 3; seed++) {
            JsonNode choice = server.answer("/v1/chat/completions", required.formatted(seed))
                    .at("/choices/0");
            JsonNode calls = choice.at("/message/tool_calls");
            boolean cut = choice.get("finish_reason").asText().equals("length");
            assertTrue(cut || choice.get("finish_reason").asText().equals("tool_calls"), choice::toString);
            for (int i = 0; i < calls.size() - (cut ? 1 : 0); i++) {
                JsonNode function = calls.get(i).get("function");
                if (function.get("name").asText().equals("now")) {
                    assertTrue(
                            ServerFixture.json(function.get("arguments").asText())
                                    .isEmpty(),
                            calls::toString);
                } else {
                    assertTimeCall(function);
                }
            }
            several += calls.size() > 1 ? 1 : 0;
        }
        assertEquals(3, several, "answers of 40 with more than one call");
    }

    @Test
    void allowedToolsLeaveSomeOfThem() throws Exception {
        String choice = ",\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"%s\",\"tools\":"
                + "[{\"type\":\"function\",\"function\":{\"name\":\"%s\"}}]}},\"parallel_tool_calls\":false,\"seed\":1";
        for (int i = 0; i < 3; i++) {
            JsonNode answer =
                    server.answer("/v1/chat/completions", TOOLS.formatted(choice.formatted("required", "time")));
            assertTimeCall(answer.at("/choices/0/message/tool_calls/0/function"));
        }
        int some = server.answer("/v1/chat/completions", TOOLS.formatted(choice.formatted("auto", "now")))
                .at("/usage/prompt_tokens")
                .asInt();
        assertTrue(some
                < server.answer("/v1/chat/completions", TOOLS.formatted(",\"seed\":1"))
                        .at("/usage/prompt_tokens")
                        .asInt());
        for (String wrong : List.of(choice.formatted("required", "x"), choice.formatted("perhaps", "now"))) {
            assertTrue(server.error(400, "/v1/chat/completions", TOOLS.formatted(wrong))
                    .get("param")
                    .asText()
                    .startsWith("tool_choice.allowed_tools."));
        }
        JsonNode response = server.answer("/v1/responses", """
                {"input":"When?","parallel_tool_calls":false,"max_output_tokens":100,
                 "tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"now"}]},
                 "tools":[{"type":"function","name":"then","parameters":{"type":"object","properties":{}}},
                          {"type":"function","name":"now","parameters":{"type":"object","properties":{},"additionalProperties":false}}]}""");
        assertEquals("now", response.at("/output/0/name").asText());
    }

    @Test
    void tokensOfAResponsesInputAreCounted() throws Exception {
        String body = "{\"input\":\"A tale of a fox.\",\"instructions\":\"Tell.\"%s}";
        JsonNode counted = server.answer("/v1/responses/input_tokens", body.formatted(""));
        assertEquals("response.input_tokens", counted.get("object").asText());
        assertEquals(
                server.answer("/v1/responses", body.formatted(",\"max_output_tokens\":1"))
                        .at("/usage/input_tokens"),
                counted.get("input_tokens"));
    }

    @Test
    void aForcedCallOfResponsesAndMessages() throws Exception {
        JsonNode response = server.answer("/v1/responses", """
                {"input":"When?","tool_choice":"required","parallel_tool_calls":false,"max_output_tokens":100,
                 "tools":[{"type":"function","name":"now","parameters":{"type":"object","properties":{},"additionalProperties":false}}]}""");
        assertEquals("function_call", response.at("/output/0/type").asText());
        assertEquals("now", response.at("/output/0/name").asText());
        assertEquals("completed", response.get("status").asText());
        JsonNode message = server.answer("/v1/messages", """
                {"messages":[{"role":"user","content":"When?"}],"tool_choice":{"type":"tool","name":"now"},"max_tokens":100,
                 "tools":[{"name":"now","input_schema":{"type":"object","properties":{},"additionalProperties":false}}]}""");
        assertEquals("tool_use", message.at("/content/0/type").asText());
        assertEquals("tool_use", message.get("stop_reason").asText());
    }

    @Test
    void aFormatIsEnforcedOrRefused() throws Exception {
        String body = "{\"messages\":[{\"role\":\"user\",\"content\":\"A fox.\"}],\"max_tokens\":200%s}";
        String schema =
                "{\"type\":\"object\",\"properties\":{\"age\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}},"
                        + "\"required\":[\"age\"],\"additionalProperties\":false}";
        for (String field : List.of(
                "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\",\"schema\":" + schema
                        + "}}",
                "\"json_schema\":" + schema)) {
            JsonNode choice = server.answer("/v1/chat/completions", body.formatted("," + field))
                    .at("/choices/0");
            JsonNode age =
                    ServerFixture.json(choice.at("/message/content").asText()).get("age");
            assertTrue(age.asInt() >= 1 && age.asInt() <= 9, choice::toString);
            assertEquals("stop", choice.get("finish_reason").asText());
        }
        JsonNode gbnf = server.answer(
                "/v1/completions", "{\"prompt\":\"Is it? \",\"grammar\":\"root ::= \\\"yes\\\" | \\\"no\\\"\"}");
        assertTrue(List.of("yes", "no").contains(gbnf.at("/choices/0/text").asText()), gbnf::toString);
        String unknown =
                "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{\"type\":\"array\",\"uniqueItems\":true}}}";
        JsonNode refused = server.error(400, "/v1/chat/completions", body.formatted("," + unknown));
        assertEquals("response_format", refused.get("param").asText());
        assertTrue(refused.get("message").asText().contains("uniqueItems"), refused::toString);
        assertEquals(
                "grammar",
                server.error(400, "/v1/chat/completions", body.formatted(",\"grammar\":\"root ::= (\""))
                        .get("param")
                        .asText());
    }
}
