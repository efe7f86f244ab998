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
        assertEquals(
                "tool_choice",
                server.error(400, "/v1/chat/completions", """
                                {"messages":[{"role":"user","content":"When?"}],"tool_choice":"required",
                                 "tools":[{"type":"function","function":{"name":"time"}}]}""").get("param").asText());
    }
}
