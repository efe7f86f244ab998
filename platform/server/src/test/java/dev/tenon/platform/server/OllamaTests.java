package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.server.models.ModelSpec;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Ollama's wire. The limit on time ends a hang.
@Timeout(120)
class OllamaTests {
    private static final String GREEDY = "\"options\":{\"num_predict\":6,\"temperature\":0}";
    private static final String CHAT =
            "{\"model\":\"story\",\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}]," + GREEDY;
    private static final String GENERATE = "{\"model\":\"story\",\"prompt\":\"A tale.\"," + GREEDY;

    private static ServerFixture server;

    @BeforeAll
    static void start() {
        server = new ServerFixture(b -> b.embeddings(true)
                .models(() -> List.of(ModelSpec.of(
                        "other",
                        LoadRequest.builder(ServerFixture.MODEL).threads(2).build()))));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static List<JsonNode> lines(String path, String body) throws Exception {
        HttpResponse<String> response = server.post(path, body);
        assertEquals(200, response.statusCode(), response::body);
        assertEquals(
                "application/x-ndjson",
                response.headers().firstValue("Content-Type").orElse(""));
        return response.body().lines().map(ServerFixture::json).toList();
    }

    private static String error(int status, String path, String body) throws Exception {
        HttpResponse<String> response = server.post(path, body);
        assertEquals(status, response.statusCode(), response::body);
        JsonNode error = ServerFixture.json(response.body()).get("error");
        assertTrue(error.isTextual(), response::body);
        return error.asText();
    }

    private static void assertEnded(JsonNode last, String reason, int tokens) {
        assertTrue(last.get("done").asBoolean());
        assertEquals(reason, last.get("done_reason").asText());
        assertEquals(tokens, last.get("eval_count").asInt());
        assertTrue(last.get("prompt_eval_count").asInt() > 2, last::toString);
        for (String name : List.of("total_duration", "prompt_eval_duration", "eval_duration")) {
            assertTrue(last.get(name).asLong() > 1000, "nanoseconds: " + last);
        }
        assertTrue(
                last.get("load_duration").asLong() < last.get("total_duration").asLong());
    }

    private static List<String> loaded() throws Exception {
        JsonNode models = ServerFixture.json(server.get("/api/ps").body()).get("models");
        return StreamSupport.stream(models.spliterator(), false)
                .map(model -> model.get("name").asText())
                .toList();
    }

    @Test
    void aChatIsAnsweredInLinesOrAtOnce() throws Exception {
        List<JsonNode> lines = lines("/api/chat", CHAT + "}");
        JsonNode whole = server.answer("/api/chat", CHAT + ",\"stream\":false}");
        String text =
                lines.stream().map(line -> line.at("/message/content").asText()).collect(Collectors.joining());
        assertTrue(text.length() > 3, text);
        assertEquals(text, whole.at("/message/content").asText());
        for (JsonNode line : lines.subList(0, lines.size() - 1)) {
            assertEquals("assistant", line.at("/message/role").asText());
            assertFalse(line.get("done").asBoolean());
            assertEquals("story", line.get("model").asText());
        }
        assertEnded(lines.getLast(), "length", 6);
        assertEnded(whole, "length", 6);
    }

    @Test
    void aPromptIsAnsweredAndItsContextGoesOn() throws Exception {
        List<JsonNode> lines = lines("/api/generate", GENERATE + "}");
        JsonNode whole = server.answer("/api/generate", GENERATE + ",\"stream\":false}");
        String text = lines.stream().map(line -> line.get("response").asText()).collect(Collectors.joining());
        assertEquals(text, whole.get("response").asText());
        assertEquals(
                text,
                server.answer("/api/chat", CHAT + ",\"stream\":false}")
                        .at("/message/content")
                        .asText());
        assertEnded(lines.getLast(), "length", 6);
        JsonNode context = whole.get("context");
        assertTrue(context.size() >= whole.get("prompt_eval_count").asInt() + 6, context::toString);
        JsonNode next = server.answer("/api/generate", GENERATE + ",\"stream\":false,\"context\":" + context + "}");
        assertTrue(next.get("prompt_eval_count").asInt() > context.size());
        assertTrue(error(400, "/api/generate", GENERATE + ",\"context\":[-1]}").contains("context"));
    }

    @Test
    void aRawPromptIsContinuedWithoutTheTemplate() throws Exception {
        String body = "{\"model\":\"story\",\"prompt\":\"Once upon a\",\"raw\":true,\"stream\":false," + GREEDY + "}";
        JsonNode answer = server.answer("/api/generate", body);
        assertTrue(answer.get("response").asText().startsWith(" time"), answer::toString);
        assertFalse(answer.has("context"));
        assertTrue(error(400, "/api/generate", body.replace("\"raw\"", "\"system\":\"x\",\"raw\""))
                .contains("system"));
    }

    @Test
    void aFormatIsEnforced() throws Exception {
        String schema =
                "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"maximum\":99}},\"required\":[\"n\"],"
                        + "\"additionalProperties\":false}";
        String options =
                "{\"model\":\"story\",\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}],\"stream\":false,";
        JsonNode answer = server.answer("/api/chat", options + "\"format\":" + schema + "}");
        assertTrue(
                ServerFixture.json(answer.at("/message/content").asText())
                        .get("n")
                        .isInt(),
                answer::toString);
        assertEquals("stop", answer.get("done_reason").asText());
        assertTrue(error(400, "/api/chat", options + "\"format\":\"yaml\"}").startsWith("format"));
        assertTrue(error(400, "/api/chat", options + "\"format\":{\"type\":\"nothing\"}}")
                        .length()
                > 5);
    }

    @Test
    void toolsAreCalledWithArgumentsAsObjects() throws Exception {
        // The story model calls no tools by itself; that a call is read is tested for all wires in ReplyParserTests.
        String body = CHAT
                + ",\"stream\":false,\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"time\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]}";
        assertTrue(server.answer("/api/chat", body).at("/message/content").isTextual());
        String turns = """
                {"model":"story","stream":false,"options":{"num_predict":2},"messages":[
                 {"role":"user","content":"What time is it?"},
                 {"role":"assistant","content":"","tool_calls":[{"function":{"name":"time","arguments":{"zone":"UTC"}}}]},
                 {"role":"tool","tool_name":"time","content":"12:00"}]}""";
        assertEquals(2, server.answer("/api/chat", turns).get("eval_count").asInt());
        assertTrue(error(400, "/api/chat", turns.replace("{\"zone\":\"UTC\"}", "\"UTC\""))
                .contains("arguments"));
    }

    @Test
    void logProbabilitiesComeWithTheParts() throws Exception {
        JsonNode whole = server.answer("/api/chat", CHAT + ",\"stream\":false,\"logprobs\":true,\"top_logprobs\":2}");
        assertEquals(6, whole.get("logprobs").size());
        assertEquals(2, whole.at("/logprobs/0/top_logprobs").size());
        assertTrue(whole.at("/logprobs/0/logprob").asDouble() <= 0);
        int streamed = lines("/api/generate", GENERATE + ",\"logprobs\":true}").stream()
                .mapToInt(line -> line.path("logprobs").size())
                .sum();
        assertEquals(6, streamed);
    }

    @Test
    void anEmptyRequestLoadsAndOneWithTheTimeZeroUnloads() throws Exception {
        JsonNode load = server.answer("/api/generate", "{\"model\":\"other\",\"keep_alive\":\"1h\",\"stream\":false}");
        assertEquals("load", load.get("done_reason").asText());
        assertEquals("", load.get("response").asText());
        assertEquals(List.of("story", "other"), loaded());
        JsonNode unload =
                server.answer("/api/chat", "{\"model\":\"other\",\"messages\":[],\"keep_alive\":0,\"stream\":false}");
        assertEquals("unload", unload.get("done_reason").asText());
        assertEquals(List.of("story"), loaded());
        server.answer("/api/generate", GENERATE.replace("story", "other") + ",\"keep_alive\":0,\"stream\":false}");
        assertEquals(List.of("story"), loaded());
        assertTrue(error(400, "/api/chat", CHAT + ",\"keep_alive\":\"long\"}").startsWith("keep_alive"));
    }

    @Test
    void listsAndDetailsTellOfTheModel() throws Exception {
        JsonNode tags = ServerFixture.json(server.get("/api/tags").body()).get("models");
        assertEquals("story", tags.at("/0/name").asText());
        assertEquals("qwen3", tags.at("/0/details/family").asText());
        assertEquals("gguf", tags.at("/0/details/format").asText());
        assertEquals(64, tags.at("/0/digest").asText().length());
        JsonNode running = ServerFixture.json(server.get("/api/ps").body()).at("/models/0");
        assertEquals(512, running.get("context_length").asInt());
        assertTrue(running.get("size").asLong() > tags.at("/0/size").asLong());
        assertEquals(0, running.get("size_vram").asLong());
        JsonNode show = server.answer("/api/show", "{\"model\":\"story\"}");
        assertEquals("qwen3", show.at("/model_info/general.architecture").asText());
        assertTrue(show.get("template").asText().contains("messages"));
        assertTrue(show.get("capabilities").toString().contains("completion"));
        assertTrue(show.at("/model_info/tokenizer.ggml.tokens").isNull());
        assertTrue(server.answer("/api/show", "{\"name\":\"story\",\"verbose\":true}")
                .at("/model_info/tokenizer.ggml.tokens")
                .isArray());
        assertTrue(ServerFixture.json(server.get("/api/version").body())
                .get("version")
                .isTextual());
        assertTrue(error(404, "/api/show", "{\"model\":\"none\"}").contains("'none' not found"));
    }

    @Test
    void textsBecomeVectorsOfLengthOne() throws Exception {
        JsonNode answer = server.answer("/api/embed", "{\"model\":\"story\",\"input\":[\"A fox.\",\"A hen.\"]}");
        assertEquals(2, answer.get("embeddings").size());
        double square = 0;
        for (JsonNode number : answer.at("/embeddings/0")) {
            square += number.asDouble() * number.asDouble();
        }
        assertEquals(1, square, 1e-4);
        assertTrue(answer.get("prompt_eval_count").asInt() > 3);
        JsonNode older = server.answer("/api/embeddings", "{\"model\":\"story\",\"prompt\":\"A fox.\"}");
        assertEquals(answer.at("/embeddings/0"), older.get("embedding"));
        String longText = "{\"model\":\"story\",\"input\":\"" + "fox ".repeat(2000) + "\"";
        assertEquals(
                512,
                server.answer("/api/embed", longText + "}")
                        .get("prompt_eval_count")
                        .asInt());
        assertTrue(error(400, "/api/embed", longText + ",\"truncate\":false}").contains("tokens"));
        assertTrue(error(400, "/api/embed", "{\"model\":\"story\",\"input\":\"x\",\"dimensions\":3}")
                .contains("dimensions"));
    }

    @Test
    void whatIsNotSupportedIsRefusedByName() throws Exception {
        assertTrue(error(400, "/api/generate", GENERATE + ",\"template\":\"{{ .Prompt }}\"}")
                .startsWith("template"));
        assertTrue(error(400, "/api/generate", GENERATE + ",\"images\":[\"aGk=\"]}")
                .contains("takes no pictures"));
        assertTrue(error(400, "/api/generate", GENERATE + ",\"suffix\":\".\"}").contains("suffix"));
        assertTrue(error(400, "/api/chat", CHAT + ",\"think\":true}").contains("does not support thinking"));
        assertTrue(error(400, "/api/chat", CHAT.replace("num_predict", "mirostat_tau\":-1,\"x") + "}")
                .contains("mirostat_tau"));
        assertTrue(error(400, "/api/create", "{\"model\":\"x\",\"from\":\"story\"}")
                .contains("--models-dir"));
        assertTrue(error(404, "/api/chat", CHAT.replace("story", "none") + "}").contains("not found"));
        server.answer("/api/generate", GENERATE + ",\"template\":\"\",\"images\":[],\"think\":false,\"stream\":false}");
    }

    @Test
    void whatOllamaIgnoresIsIgnoredAndListed() throws Exception {
        String options =
                ",\"options\":{\"num_predict\":2,\"num_ctx\":99999,\"mirostat\":0,\"mirostat_tau\":5,\"tfs_z\":1,"
                        + "\"penalize_newline\":true,\"colour\":\"red\"}";
        String body = "{\"model\":\"story\",%s,\"max_output_tokens\":9,\"temperature\":0.5" + options + "}";
        String chat = "\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\",\"id\":\"1\"}]";
        for (String stream : List.of("", ",\"stream\":false")) {
            HttpResponse<String> answer = server.post("/api/chat", body.formatted(chat + stream));
            assertEquals(200, answer.statusCode(), answer::body);
            assertEquals(
                    "max_output_tokens, temperature, messages[0].id, options.tfs_z, options.penalize_newline,"
                            + " options.colour, options.num_ctx",
                    answer.headers().firstValue("X-Ignored-Fields").orElseThrow());
        }
        String generate = body.formatted("\"prompt\":\"A tale.\",\"\\u00e9\\n,\":1");
        HttpResponse<String> answer = server.post("/api/generate", generate);
        assertEquals(200, answer.statusCode(), answer::body);
        assertTrue(answer.headers().firstValue("X-Ignored-Fields").orElseThrow().startsWith("???, max_output_tokens"));
        assertTrue(server.post("/api/chat", CHAT + "}")
                .headers()
                .firstValue("X-Ignored-Fields")
                .isEmpty());
    }

    @Test
    void theRootTellsThatItRuns() throws Exception {
        assertEquals("Ollama is running", server.get("/").body());
        HttpRequest.Builder head =
                HttpRequest.newBuilder(server.uri("/")).method("HEAD", HttpRequest.BodyPublishers.noBody());
        assertEquals(200, server.send(head).statusCode());
        assertEquals(
                200,
                server.send(HttpRequest.newBuilder(server.uri("/api/tags"))
                                .method("HEAD", HttpRequest.BodyPublishers.noBody()))
                        .statusCode());
    }
}
