package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ChatCompletionsTests {
    private static final String PATH = "/v1/chat/completions";

    private static ServerFixture server;

    @BeforeAll
    static void start() {
        server = new ServerFixture();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static String ask(String more) {
        return """
                {"model":"story","messages":[{"role":"user","content":"Tell a tale of a fox."}],
                 "max_tokens":12,"temperature":0%s}""".formatted(more);
    }

    @Test
    void modelsAreListed() throws Exception {
        JsonNode list = ServerFixture.json(server.get("/v1/models").body());
        assertEquals("list", list.get("object").asText());
        assertEquals("story", list.get("data").get(0).get("id").asText());
        assertEquals(200, server.get("/v1/models/story").statusCode());
        assertEquals(404, server.get("/v1/models/other").statusCode());
    }

    @Test
    void aPlainAnswerHasAllThatClientsNeed() throws Exception {
        JsonNode answer = server.answer(PATH, ask(""));
        assertTrue(answer.get("id").asText().startsWith("chatcmpl-"));
        assertEquals("chat.completion", answer.get("object").asText());
        assertEquals("story", answer.get("model").asText());
        assertTrue(answer.get("created").asLong() > 0);
        assertFalse(answer.has("error"));
        JsonNode choice = answer.get("choices").get(0);
        assertEquals(0, choice.get("index").asInt());
        assertEquals("assistant", choice.get("message").get("role").asText());
        assertFalse(choice.get("message").get("content").asText().isEmpty());
        assertEquals("length", choice.get("finish_reason").asText());
        assertEquals(12, answer.get("usage").get("completion_tokens").asInt());
        assertTrue(answer.get("usage").get("prompt_tokens").asInt() > 5);
    }

    @Test
    void theSameTextComesInAStream() throws Exception {
        HttpResponse<String> response =
                server.post(PATH, ask(",\"stream\":true,\"stream_options\":{\"include_usage\":true}"));
        assertTrue(response.headers().firstValue("Content-Type").orElseThrow().startsWith("text/event-stream"));
        assertTrue(response.body().endsWith("data: [DONE]\n\n"));
        List<JsonNode> events =
                server.events(PATH, ask(",\"stream\":true,\"stream_options\":{\"include_usage\":true}"));
        JsonNode first = events.getFirst().get("choices").get(0);
        assertEquals("assistant", first.get("delta").get("role").asText());
        String text = events.stream()
                .flatMap(e -> e.get("choices").findValuesAsText("content").stream())
                .collect(Collectors.joining());
        JsonNode plain = server.answer(PATH, ask(""));
        assertEquals(plain.get("choices").get(0).get("message").get("content").asText(), text);
        JsonNode last = events.get(events.size() - 2).get("choices").get(0);
        assertEquals("length", last.get("finish_reason").asText());
        assertTrue(last.get("delta").isEmpty());
        assertEquals(0, events.getLast().get("choices").size());
        assertEquals(12, events.getLast().get("usage").get("completion_tokens").asInt());
    }

    @Test
    void severalChoicesAreIndependentAndSeedsRepeat() throws Exception {
        String body = ask("").replace("\"temperature\":0", "\"temperature\":1.5,\"top_k\":0,\"n\":3,\"seed\":7");
        JsonNode one = server.answer(PATH, body);
        JsonNode two = server.answer(PATH, body);
        List<String> texts = one.findValuesAsText("content");
        assertEquals(3, texts.size());
        assertEquals(texts, two.findValuesAsText("content"));
        assertEquals(3, texts.stream().distinct().count());
        assertEquals(36, one.get("usage").get("completion_tokens").asInt());
        List<JsonNode> events = server.events(PATH, body.replace("\"n\":3", "\"n\":3,\"stream\":true"));
        assertEquals(
                3,
                events.stream()
                        .map(e -> e.get("choices").get(0).get("index").asInt())
                        .distinct()
                        .count());
    }

    @Test
    void stopTextsEndTheAnswerAndAreNotInIt() throws Exception {
        String text = server.answer(PATH, ask(""))
                .get("choices")
                .get(0)
                .get("message")
                .get("content")
                .asText();
        String word = text.strip().split("\\s+")[2];
        JsonNode choice = server.answer(PATH, ask(",\"stop\":[\"" + word + "\"]"))
                .get("choices")
                .get(0);
        assertEquals("stop", choice.get("finish_reason").asText());
        assertEquals(
                text.substring(0, text.indexOf(word)),
                choice.get("message").get("content").asText());
    }

    @Test
    void logProbabilitiesAreThoseOfTheTokens() throws Exception {
        JsonNode choice = server.answer(PATH, ask(",\"logprobs\":true,\"top_logprobs\":3"))
                .get("choices")
                .get(0);
        JsonNode tokens = choice.get("logprobs").get("content");
        assertEquals(12, tokens.size());
        String joined =
                String.join("", tokens.findValuesAsText("token").stream().toList());
        assertTrue(joined.length() > 0);
        for (JsonNode token : tokens) {
            assertEquals(3, token.get("top_logprobs").size());
            // The temperature is 0, so each token is the most probable one.
            assertEquals(token.get("token"), token.get("top_logprobs").get(0).get("token"));
            assertTrue(token.get("logprob").asDouble() <= 0);
        }
        assertEquals(
                "top_logprobs",
                server.error(400, PATH, ask(",\"top_logprobs\":3")).get("param").asText());
    }

    @Test
    void aBannedTokenDoesNotCome() throws Exception {
        JsonNode choice =
                server.answer(PATH, ask(",\"logprobs\":true")).get("choices").get(0);
        String first = choice.get("logprobs").get("content").get(0).get("token").asText();
        JsonNode other = server.answer(
                        PATH,
                        ask(",\"logprobs\":true,\"logit_bias\":[["
                                + new com.fasterxml.jackson.databind.node.TextNode(first) + ",false]]"))
                .get("choices")
                .get(0);
        assertFalse(other.get("logprobs")
                .get("content")
                .get(0)
                .get("token")
                .asText()
                .equals(first));
    }

    @Test
    void theLastMessageIsContinued() throws Exception {
        JsonNode answer = server.answer(PATH, """
                {"messages":[{"role":"user","content":"A tale."},{"role":"assistant","content":"Once upon a"}],
                 "continue_final_message":true,"max_tokens":4,"temperature":0}""");
        assertTrue(
                answer.get("choices")
                        .get(0)
                        .get("message")
                        .get("content")
                        .asText()
                        .startsWith(" time"),
                answer::toString);
    }

    @Test
    void whatIsNotSupportedIsRefusedByName() throws Exception {
        assertEquals(
                "functions",
                server.error(400, PATH, ask(",\"functions\":[{}]")).get("param").asText());
        server.answer(PATH, ask(",\"functions\":[],\"mirostat\":0,\"mirostat_tau\":5,\"top_n_sigma\":-1"));
        assertEquals(
                "nonsense",
                server.error(400, PATH, ask(",\"nonsense\":1")).get("param").asText());
        assertEquals(
                "n", server.error(400, PATH, ask(",\"n\":1000")).get("param").asText());
        assertEquals(
                "temperature",
                server.error(400, PATH, ask("").replace("\"temperature\":0", "\"temperature\":-1"))
                        .get("param")
                        .asText());
        assertEquals(
                "messages",
                server.error(400, PATH, "{\"messages\":[]}").get("param").asText());
        assertEquals(
                "model_not_found",
                server.error(404, PATH, ask("").replace("\"story\"", "\"x\""))
                        .get("code")
                        .asText());
        assertEquals(
                "invalid_request_error",
                server.error(400, PATH, "{").get("type").asText());
        assertEquals(200, server.post(PATH, ask(",\"user\":\"me\",\"n\":null")).statusCode());
    }

    @Test
    void aPromptThatIsTooLongIsRefused() throws Exception {
        String body = ask("").replace("a fox", "a fox and a hen ".repeat(400));
        JsonNode error = server.error(400, PATH, body);
        assertEquals("context_length_exceeded", error.get("code").asText());
        assertEquals("messages", error.get("param").asText());
    }

    @Test
    void textsAreContinued() throws Exception {
        JsonNode answer = server.answer(
                "/v1/completions",
                "{\"prompt\":\"Once upon a\",\"max_tokens\":5,\"temperature\":0,\"echo\":true,\"n\":2}");
        assertEquals(2, answer.get("choices").size());
        assertTrue(answer.get("choices").get(0).get("text").asText().startsWith("Once upon a time"), answer::toString);
        JsonNode probabilities = server.answer(
                "/v1/completions",
                "{\"prompt\":[\"Once\",\"There\"],\"max_tokens\":3,\"logprobs\":2,\"temperature\":0}");
        assertEquals(2, probabilities.get("choices").size());
        assertEquals(
                3,
                probabilities
                        .get("choices")
                        .get(1)
                        .get("logprobs")
                        .get("tokens")
                        .size());
        assertEquals(
                "suffix",
                server.error(501, "/v1/completions", "{\"prompt\":\"a\",\"suffix\":\"b\"}")
                        .get("param")
                        .asText());
        List<JsonNode> events = server.events(
                "/v1/completions", "{\"prompt\":\"Once upon a\",\"max_tokens\":5,\"temperature\":0,\"stream\":true}");
        String text = events.stream()
                .map(e -> e.get("choices").get(0).get("text").asText())
                .collect(Collectors.joining());
        assertEquals(answer.get("choices").get(0).get("text").asText(), "Once upon a" + text);
    }
}
