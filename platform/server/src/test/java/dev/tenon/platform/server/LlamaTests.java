package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.RerankRequest;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.server.generation.InfillTokens;
import dev.tenon.platform.server.models.ModelSpec;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What llama.cpp's server has besides OpenAI's wire. The limit on time ends a hang.
@Timeout(120)
class LlamaTests {
    private static final Path ENCODERS = Path.of("../../itest/golden/src/test/resources/golden/models-more");

    private static final String GREEDY = "\"prompt\":\"Once upon a\",\"n_predict\":6,\"temperature\":0";

    private static ServerFixture server;

    @BeforeAll
    static void start() {
        server = new ServerFixture();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static int[] tokens(String body) throws Exception {
        JsonNode tokens = server.answer("/tokenize", body).get("tokens");
        return IntStream.range(0, tokens.size()).map(i -> tokens.get(i).asInt()).toArray();
    }

    @Test
    void aTextIsContinuedWithTimings() throws Exception {
        JsonNode answer = server.answer("/completion", "{" + GREEDY + ",\"n_probs\":2,\"return_tokens\":true}");
        assertTrue(answer.get("content").asText().startsWith(" time"), answer::toString);
        assertTrue(answer.get("stop").asBoolean());
        assertEquals("limit", answer.get("stop_type").asText());
        assertEquals("Once upon a", answer.get("prompt").asText());
        assertEquals("story", answer.get("model").asText());
        assertEquals(6, answer.get("tokens_predicted").asInt());
        assertEquals(6, answer.get("tokens").size());
        assertEquals(6, answer.get("completion_probabilities").size());
        assertEquals(2, answer.at("/completion_probabilities/0/top_logprobs").size());
        assertEquals(answer.get("tokens").get(0), answer.at("/completion_probabilities/0/id"));
        JsonNode timings = answer.get("timings");
        assertEquals(6, timings.get("predicted_n").asInt());
        assertEquals(
                answer.get("tokens_evaluated").asInt(),
                timings.get("prompt_n").asInt() + timings.get("cache_n").asInt());
        assertTrue(timings.get("predicted_per_second").asDouble() > 0);
    }

    @Test
    void aStreamEndsWithTheTimings() throws Exception {
        String plain =
                server.answer("/completion", "{" + GREEDY + "}").get("content").asText();
        List<JsonNode> events = server.events("/completion", "{" + GREEDY + ",\"stream\":true}");
        assertEquals(plain, events.stream().map(e -> e.get("content").asText()).collect(Collectors.joining()));
        for (JsonNode event : events.subList(0, events.size() - 1)) {
            assertFalse(event.get("stop").asBoolean());
        }
        assertTrue(events.getLast().get("stop").asBoolean());
        assertTrue(events.getLast().has("timings"));
        assertFalse(server.post("/completion", "{" + GREEDY + ",\"stream\":true}")
                .body()
                .contains("[DONE]"));
    }

    @Test
    void aStopTextAndAGrammarEndACompletion() throws Exception {
        JsonNode stopped = server.answer("/completion", "{" + GREEDY + ",\"stop\":[\" time\"]}");
        assertEquals("word", stopped.get("stop_type").asText());
        assertEquals(" time", stopped.get("stopping_word").asText());
        assertEquals("", stopped.get("content").asText());
        JsonNode enforced = server.answer("/completion", "{\"prompt\":\"x\",\"grammar\":\"root ::= \\\"yes\\\"\"}");
        assertEquals("yes", enforced.get("content").asText());
        assertEquals("eos", enforced.get("stop_type").asText());
    }

    @Test
    void aPromptIsATextOrTokensOrBoth() throws Exception {
        String plain =
                server.answer("/completion", "{" + GREEDY + "}").get("content").asText();
        int[] ids = tokens("{\"content\":\"Once upon a\",\"add_special\":true}");
        String body = "{" + GREEDY.replace("\"Once upon a\"", "%s") + "}";
        assertEquals(
                plain,
                server.answer("/completion", body.formatted(Arrays.toString(ids)))
                        .get("content")
                        .asText());
        assertEquals(
                plain,
                server.answer("/completion", body.formatted("[" + ids[0] + ",\"" + " upon a" + "\"]"))
                        .get("content")
                        .asText());
        for (String prompt : List.of("[-1]", "[1e9]", "3", "[]", "\"\"", "[[]]", "[[1],[-1]]", "[true]")) {
            assertTrue(
                    server.error(400, "/completion", body.formatted(prompt))
                            .get("param")
                            .asText()
                            .startsWith("prompt"),
                    prompt);
        }
        assertEquals(
                "prompt",
                server.error(400, "/completion", body.formatted("\"" + "fox ".repeat(600) + "\""))
                        .get("param")
                        .asText());
    }

    @Test
    void severalPromptsHaveARepliesEach() throws Exception {
        String ids = Arrays.toString(tokens("{\"content\":\"Once upon a\",\"add_special\":true}"));
        String body = "{" + GREEDY.replace("\"Once upon a\"", "[" + ids + ",\"The sea\"]") + "%s}";
        JsonNode replies = server.answer("/completion", body.formatted(""));
        assertEquals(2, replies.size());
        assertEquals(
                server.answer("/completion", "{" + GREEDY + "}").get("content"),
                replies.get(0).get("content"));
        assertEquals(1, replies.get(1).get("index").asInt());
        assertEquals("The sea", replies.get(1).get("prompt").asText());
        List<JsonNode> ends = server.events("/completion", body.formatted(",\"stream\":true")).stream()
                .filter(event -> event.get("stop").asBoolean())
                .toList();
        assertEquals(
                List.of(0, 1), ends.stream().map(e -> e.get("index").asInt()).toList());
    }

    @Test
    void aModelThatIsNotServedForVectorsSaysWhatHelps() throws Exception {
        HttpResponse<String> refused = server.post("/v1/embeddings", "{\"input\":\"a\"}");
        assertEquals(501, refused.statusCode(), refused::body);
        assertTrue(refused.body().contains("--embeddings"), refused::body);
        assertEquals("false", refused.headers().firstValue("x-should-retry").orElse(""), "clients would ask again");
        assertTrue(server.post("/api/embed", "{\"model\":\"story\",\"input\":\"a\"}")
                .body()
                .contains("--embeddings"));
    }

    @Test
    void theLastEventSaysWhatHeld() throws Exception {
        String body =
                "{" + GREEDY.replace(",\"temperature\":0", "") + ",\"top_k\":7,\"stop\":[\"zzz\"],\"stream\":true}";
        JsonNode settings = server.events("/completion", body).getLast().get("generation_settings");
        assertEquals(7, settings.get("top_k").asInt());
        assertEquals(6, settings.get("n_predict").asInt());
        assertEquals("zzz", settings.at("/stop/0").asText());
        String again = body.replace("}", ",\"seed\":" + settings.get("seed") + "}");
        assertEquals(
                server.events("/completion", again).stream()
                        .map(e -> e.get("content").asText())
                        .toList(),
                server.events("/completion", again).stream()
                        .map(e -> e.get("content").asText())
                        .toList());
        assertEquals(
                settings.get("seed"),
                server.events("/completion", again).getLast().at("/generation_settings/seed"));
    }

    @Test
    void aFullContextIsTold() throws Exception {
        String body = "{\"prompt\":\"" + "fox ".repeat(240) + "\",\"ignore_eos\":true,\"temperature\":0%s}";
        JsonNode full = server.answer("/completion", body.formatted(""));
        assertTrue(full.get("truncated").asBoolean(), full::toString);
        assertEquals(
                512,
                full.get("tokens_evaluated").asInt()
                        + full.get("tokens_predicted").asInt());
        assertFalse(server.answer("/completion", body.formatted(",\"n_predict\":3"))
                .get("truncated")
                .asBoolean());
    }

    @Test
    void asManyTokensAreReturnedAsAreCountedWhereTheEndIsIgnored() throws Exception {
        String body = "{\"prompt\":\"Once\",\"n_predict\":64,\"temperature\":3,\"top_k\":0,\"top_p\":1,\"min_p\":0,"
                + "\"ignore_eos\":true,\"return_tokens\":true,\"seed\":";
        int[] ends = tokens("{\"content\":\"<|im_end|><|endoftext|>\"}");
        for (int seed = 0; seed < 40; seed++) {
            JsonNode answer = server.answer("/completion", body + seed + "}");
            assertEquals(64, answer.get("tokens_predicted").asInt());
            assertEquals(64, answer.get("tokens").size(), "seed " + seed);
            for (JsonNode token : answer.get("tokens")) {
                assertTrue(Arrays.stream(ends).noneMatch(end -> end == token.asInt()), "seed " + seed);
            }
        }
    }

    @Test
    void textsBecomeTokensAndTextsAgain() throws Exception {
        int[] ids = tokens("{\"content\":\"A fox, ünd more.\"}");
        assertTrue(ids.length > 4);
        JsonNode back = server.answer("/detokenize", "{\"tokens\":" + Arrays.toString(ids) + "}");
        assertEquals("A fox, ünd more.", back.get("content").asText());
        JsonNode pieces = server.answer("/tokenize", "{\"content\":\"A fox\",\"with_pieces\":true}")
                .get("tokens");
        assertEquals(
                "A fox",
                pieces.findValues("piece").stream().map(JsonNode::asText).collect(Collectors.joining()));
        Tokenizer tokenizer = server.engine.models().getFirst().tokenizer();
        String eos = tokenizer.piece(tokenizer.eos().orElseThrow());
        assertEquals(1, tokens("{\"content\":\"" + eos + "\"}").length);
        assertTrue(tokens("{\"content\":\"" + eos + "\",\"parse_special\":false}").length > 1);
        assertEquals(400, server.post("/detokenize", "{\"tokens\":[99999999]}").statusCode());
    }

    @Test
    void theTemplateIsAppliedAsAChatWould() throws Exception {
        String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}]";
        String prompt = server.answer("/apply-template", "{" + messages + "}")
                .get("prompt")
                .asText();
        assertTrue(prompt.contains("A tale."), prompt);
        String quoted = JsonNodeFactory.instance.textNode(prompt).toString();
        String raw = server.answer("/completion", "{\"prompt\":" + quoted + ",\"n_predict\":6,\"temperature\":0}")
                .get("content")
                .asText();
        String chat = server.answer("/v1/chat/completions", "{" + messages + ",\"max_tokens\":6,\"temperature\":0}")
                .at("/choices/0/message/content")
                .asText();
        assertEquals(chat.strip(), raw.strip());
    }

    @Test
    void propsAndSlotsTellOfTheModel() throws Exception {
        JsonNode props = ServerFixture.json(server.get("/props").body());
        assertEquals(512, props.at("/default_generation_settings/n_ctx").asInt());
        assertEquals(4, props.get("total_slots").asInt());
        assertTrue(props.get("chat_template").asText().contains("messages"));
        assertEquals("story-qwen3-q4_k_m.gguf", props.get("model_path").asText(), "no path");
        assertTrue(props.at("/default_generation_settings/params/temperature").isNumber());
        JsonNode slots = ServerFixture.json(server.get("/slots?model=story").body());
        assertEquals(4, slots.size());
        assertEquals(512, slots.at("/3/n_ctx").asInt());
        assertFalse(slots.at("/0/is_processing").asBoolean());
        assertEquals(200, server.get("/slots?fail_on_no_slot=1").statusCode());
        assertEquals(404, server.get("/props?model=none").statusCode());
    }

    @Test
    void aPromptThatIsTooLongIsRefusedByName() throws Exception {
        JsonNode error = server.error(400, "/completion", "{\"prompt\":\"" + "a fox and a hen ".repeat(400) + "\"}");
        assertEquals("context_length_exceeded", error.get("code").asText());
        assertEquals("prompt", error.get("param").asText());
    }

    @Test
    void whatIsNotSupportedIsRefusedByName() throws Exception {
        for (String field : List.of("min_keep", "t_max_predict_ms", "samplers", "colour")) {
            JsonNode error = server.error(400, "/completion", "{" + GREEDY + ",\"" + field + "\":1}");
            assertEquals(field, error.get("param").asText());
        }
        assertEquals(
                501,
                server.post("/infill", "{\"input_prefix\":\"a\",\"input_suffix\":\"b\"}")
                        .statusCode());
        assertEquals(
                501,
                server.post("/rerank", "{\"query\":\"a\",\"documents\":[\"b\"]}")
                        .statusCode());
        assertEquals(
                400,
                server.post("/rerank", "{\"query\":\"a\",\"documents\":[]}").statusCode());
    }

    @Test
    void whatIsFilledInComesAfterBothEndsAndOtherFiles() {
        LoadedModel model = server.engine.models().getFirst();
        Tokenizer tokenizer = model.tokenizer();
        InfillTokens infill = new InfillTokens(1, 2, 3, 4);
        List<InfillTokens.Extra> extras = List.of(new InfillTokens.Extra("a.txt", "text"));
        IntStream bos = tokenizer.addsBos() ? tokenizer.bos().stream() : IntStream.empty();
        int[] expected = concat(
                bos,
                IntStream.of(4),
                IntStream.of(tokenizer.encode("a.txt\ntext\n", false, false)),
                IntStream.of(4),
                IntStream.of(tokenizer.encode("filename\n", false, false)),
                IntStream.of(1),
                IntStream.of(tokenizer.encode("before", false, false)),
                IntStream.of(2),
                IntStream.of(tokenizer.encode("after", false, false)),
                IntStream.of(3),
                IntStream.of(tokenizer.encode("begun", false, false)));
        assertEquals(
                Arrays.toString(expected), Arrays.toString(infill.prompt(model, extras, "before", "after", "begun")));
    }

    private static int[] concat(IntStream... parts) {
        return Arrays.stream(parts).flatMapToInt(part -> part).toArray();
    }

    @Test
    void documentsAreOrderedByTheirScores() throws Exception {
        Path file = ENCODERS.resolve("bert-rerank.q8_0.gguf");
        List<String> documents = List.of("bb", "dddd", "ccc");
        float[] scores;
        try (LoadedModel model = server.engine.load(
                LoadRequest.builder(file).outputs(Graph.SCORES).build())) {
            RerankRequest.Builder request = RerankRequest.builder("q");
            documents.forEach(request::document);
            scores = model.rerank(request.build());
        }
        List<Integer> order = IntStream.range(0, 3)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> -scores[i]))
                .toList();
        try (TenonServer ranking = serve("ranker", file)) {
            String body = "{\"query\":\"q\",\"documents\":[\"bb\",{\"text\":\"dddd\"},\"ccc\"],\"top_n\":2,"
                    + "\"return_documents\":true}";
            for (String path : List.of("/rerank", "/v1/rerank", "/reranking")) {
                JsonNode answer = post(ranking, path, body);
                assertEquals(2, answer.get("results").size(), answer::toString);
                for (int i = 0; i < 2; i++) {
                    JsonNode result = answer.get("results").get(i);
                    int index = order.get(i);
                    assertEquals(index, result.get("index").asInt(), answer::toString);
                    assertEquals(scores[index], result.get("relevance_score").asDouble(), 1e-3);
                    assertEquals(
                            documents.get(index), result.at("/document/text").asText());
                }
                assertTrue(answer.at("/usage/prompt_tokens").asInt() > 3);
            }
        }
    }

    @Test
    void anEncoderEmbedsWithoutBeingAskedTo() throws Exception {
        try (TenonServer embedding = serve("encoder", ENCODERS.resolve("bert.q8_0.gguf"))) {
            JsonNode answer = post(embedding, "/v1/embeddings", "{\"input\":[\"a b\",\"c\"]}");
            assertEquals(2, answer.get("data").size(), answer::toString);
            double sum = 0;
            for (JsonNode element : answer.at("/data/0/embedding")) {
                sum += element.asDouble() * element.asDouble();
            }
            assertEquals(1, sum, 1e-4);
        }
    }

    private static TenonServer serve(String name, Path file) {
        return TenonServer.builder(server.engine)
                .port(0)
                .model(ModelSpec.of(name, LoadRequest.of(file)))
                .start();
    }

    private static JsonNode post(TenonServer to, String path, String body) throws Exception {
        return ServerFixture.json(server.send(HttpRequest.newBuilder(URI.create(to.address() + path))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(body)))
                .body());
    }
}
