package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.SamplingNumber;
import dev.tenon.platform.server.models.ChatDefaults;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Fields that say how tokens are sampled and which may come: each is taken, shows its effect, and refuses what it does
/// not take. Greedy replies to this prompt are ` time` and so on. The limit on time ends a hang.
@Timeout(120)
class SamplingFieldsTests {
    private static final String PATH = "/completion";
    private static final String GREEDY = "\"prompt\":\"Once upon a\",\"n_predict\":6,\"temperature\":0";

    private static ServerFixture server;
    private static Tokenizer tokenizer;

    @BeforeAll
    static void start() {
        server = new ServerFixture(options ->
                options.chatDefaults(new ChatDefaults(-1, " Enough.", Map.of("none", 0, "low", 3, "high", -1), true)));
        tokenizer = server.engine.models().getFirst().tokenizer();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static JsonNode ask(String fields) throws Exception {
        return server.answer(PATH, "{" + GREEDY + fields + "}");
    }

    private static String text(String fields) throws Exception {
        return ask(fields).get("content").asText();
    }

    private static void refuses(String field, String value) throws Exception {
        String others = GREEDY.replace(",\"" + field + "\":0", "");
        JsonNode error = server.error(400, PATH, "{" + others + ",\"" + field + "\":" + value + "}");
        assertTrue(error.get("param").asText().startsWith(field), error::toString);
        assertFalse(error.get("code").asText().isEmpty());
    }

    @ParameterizedTest
    @EnumSource
    void eachNumberIsTakenInItsRange(SamplingNumber number) throws Exception {
        double value = number.isWhole() ? Math.min(2, number.most()) : Math.min(1, number.most());
        String others = GREEDY.replace(",\"temperature\":0", "");
        String shown = number.isWhole() ? Integer.toString((int) value) : Double.toString(value);
        JsonNode reply = server.answer(PATH, "{" + others + ",\"" + number.field() + "\":" + shown + "}");
        assertEquals(
                value,
                reply.at("/generation_settings/" + number.field()).asDouble(),
                1e-6,
                () -> reply.get("generation_settings").toString());
        refuses(number.field(), Double.toString(number.least() - 1));
        refuses(number.field(), Double.toString(number.most() + 1));
        refuses(number.field(), "\"x\"");
    }

    @Test
    void theStepsAreThoseThatAreNamed() throws Exception {
        String greedy = text("");
        String hot = "\"prompt\":\"Once upon a\",\"n_predict\":6,\"temperature\":9,\"top_k\":1,\"min_p\":0,\"seed\":4";
        for (String steps : List.of("[\"top_k\",\"temperature\"]", "\"temperature;top_k\"", "\"kt\"", "[\"top_k\"]")) {
            JsonNode reply = server.answer(PATH, "{" + hot + ",\"samplers\":" + steps + "}");
            assertEquals(greedy, reply.get("content").asText(), steps);
        }
        JsonNode reply = server.answer(PATH, "{" + hot + ",\"samplers\":[\"temperature\"]}");
        assertNotEquals(greedy, reply.get("content").asText(), "top-k is off");
        assertEquals(
                "[\"temperature\"]", reply.at("/generation_settings/samplers").toString());
        for (String wrong : List.of("\"top_q\"", "[\"top_k\",\"top_k\"]", "[1]", "{}", "\"kk\"")) {
            refuses("samplers", wrong);
        }
    }

    @Test
    void whatDropsTheBestTokenOrPenalisesItChangesGreedyReplies() throws Exception {
        String greedy = text("");
        assertNotEquals(greedy, text(",\"xtc_probability\":1,\"xtc_threshold\":0.0001,\"min_p\":0"));
        assertEquals(greedy, text(",\"xtc_probability\":1,\"xtc_threshold\":0.6"));
        String again =
                "\"n_predict\":1,\"temperature\":0,\"prompt\":\"" + "The fox ran to the sea. ".repeat(4) + "The fox\"";
        String repeated = server.answer(PATH, "{" + again + "}").get("content").asText();
        assertEquals(" ran", repeated);
        String dry = ",\"dry_multiplier\":50,\"dry_allowed_length\":1";
        assertNotEquals(
                repeated,
                server.answer(PATH, "{" + again + dry + "}").get("content").asText());
        assertEquals(
                repeated,
                server.answer(PATH, "{" + again + dry + ",\"dry_sequence_breakers\":[\"fox\"]}")
                        .get("content")
                        .asText());
        refuses("dry_sequence_breakers", "[1]");
    }

    @Test
    void mirostatThatMayNotSurpriseIsGreedy() throws Exception {
        String greedy = text("");
        for (int version = 1; version <= 2; version++) {
            String fields = ",\"mirostat\":" + version + ",\"mirostat_tau\":0,\"seed\":7";
            JsonNode reply =
                    server.answer(PATH, "{" + GREEDY.replace("\"temperature\":0", "\"temperature\":1") + fields + "}");
            if (version == 2) {
                assertEquals(greedy, reply.get("content").asText());
            }
            JsonNode options = server.answer(
                    "/api/generate",
                    "{\"model\":\"story\",\"raw\":true,\"stream\":false,\"prompt\":\"Once upon a\",\"options\":{\"mirostat\":"
                            + version + ",\"mirostat_tau\":0,\"num_predict\":6,\"temperature\":1,\"seed\":7}}");
            assertEquals(reply.get("content"), options.get("response"), "Ollama's form");
        }
    }

    private static int id(String text) {
        int[] ids = tokenizer.encode(text, false, false);
        assertEquals(1, ids.length, text);
        return ids[0];
    }

    @Test
    void tokensEndRepliesButNotTooEarly() throws Exception {
        JsonNode whole = ask(",\"return_tokens\":true");
        int third = whole.at("/tokens/2").asInt();
        JsonNode stopped = ask(",\"return_tokens\":true,\"stop_token_ids\":[" + third + "]");
        assertEquals(3, stopped.get("tokens_predicted").asInt());
        assertEquals("eos", stopped.get("stop_type").asText());
        JsonNode later = ask(",\"return_tokens\":true,\"min_tokens\":5,\"stop_token_ids\":[" + third + "]");
        assertTrue(later.get("tokens_predicted").asInt() >= 5, later::toString);
        assertNotEquals(third, later.at("/tokens/2").asInt());
        int end = tokenizer.eos().orElseThrow();
        String ends = ",\"logit_bias\":[[" + end + ",100]]";
        assertEquals(1, ask(ends).get("tokens_predicted").asInt());
        assertTrue(ask(ends + ",\"min_tokens\":4").get("tokens_predicted").asInt() >= 4);
        JsonNode chat = server.answer(
                "/v1/chat/completions",
                "{\"max_tokens\":6,\"messages\":[{\"role\":\"user\",\"content\":\"A\"}]" + ends + ",\"min_tokens\":4}");
        assertTrue(chat.at("/usage/completion_tokens").asInt() >= 4);
        refuses("min_tokens", "-1");
        refuses("stop_token_ids", "[-1]");
        refuses("stop_token_ids", "[\"a\"]");
    }

    @Test
    void wordsAreBannedAndTokensAllowed() throws Exception {
        assertTrue(text("").startsWith(" time"));
        for (String word : List.of("time", " time")) {
            assertFalse(text(",\"bad_words\":[\"" + word + "\"]").contains("time"), word);
        }
        assertEquals(text(""), text(",\"bad_words\":[\"time zone\"]"));
        Set<Integer> allowed = Set.of(id(" time"), id(","));
        JsonNode only = ask(",\"return_tokens\":true,\"allowed_token_ids\":" + allowed);
        Set<Integer> seen = new HashSet<>();
        only.get("tokens").forEach(each -> seen.add(each.asInt()));
        assertTrue(allowed.containsAll(seen), seen::toString);
        assertEquals(6, only.get("tokens_predicted").asInt(), "no token that ends a text is allowed");
        refuses("bad_words", "[\" \"]");
        refuses("bad_words", "[1]");
        refuses("allowed_token_ids", "[99999999]");
        refuses("allowed_token_ids", "{}");
    }

    @Test
    void allHoldsBesideAGrammar() throws Exception {
        String grammar = ",\"grammar\":\"root ::= \\\"yes\\\" | \\\"no\\\" | \\\"maybe\\\"\"";
        for (String fields : List.of(
                ",\"mirostat\":2,\"temperature\":1",
                ",\"xtc_probability\":1,\"xtc_threshold\":0.1,\"temperature\":1",
                ",\"dry_multiplier\":1,\"top_n_sigma\":1,\"dynatemp_range\":0.5,\"temperature\":1",
                ",\"samplers\":\"edskypmxt\",\"min_tokens\":1",
                ",\"n_probs\":3,\"post_sampling_probs\":true")) {
            String others = fields.contains("temperature") ? GREEDY.replace(",\"temperature\":0", "") : GREEDY;
            String reply = server.answer(PATH, "{" + others + grammar + fields + "}")
                    .get("content")
                    .asText();
            assertTrue(List.of("yes", "no", "maybe").contains(reply), fields + ": " + reply);
        }
        List<Integer> no =
                IntStream.of(tokenizer.encode("no", false, false)).boxed().toList();
        assertEquals("no", text(grammar + ",\"allowed_token_ids\":" + no));
        String none = "{" + GREEDY + grammar + ",\"allowed_token_ids\":[" + id(",") + "]}";
        assertTrue(server.error(400, PATH, none).get("message").asText().contains("exclude each other"));
    }

    @Test
    void probabilitiesAfterSamplingAreThoseOfTheTokensThatAreLeft() throws Exception {
        String fields =
                "\"prompt\":\"Once upon a\",\"n_predict\":3,\"temperature\":2,\"top_k\":2,\"top_p\":1,\"min_p\":0,\"n_probs\":5";
        JsonNode before = server.answer(PATH, "{" + fields + "}").get("completion_probabilities");
        assertEquals(5, before.at("/0/top_logprobs").size());
        JsonNode after = server.answer(PATH, "{" + fields + ",\"post_sampling_probs\":true}")
                .get("completion_probabilities");
        assertEquals(3, after.size());
        for (JsonNode token : after) {
            assertFalse(token.has("logprob"));
            assertEquals(2, token.get("top_probs").size(), token::toString);
            double sum = 0;
            for (JsonNode top : token.get("top_probs")) {
                sum += top.get("prob").asDouble();
            }
            assertEquals(1, sum, 1e-4);
            assertTrue(token.get("prob").asDouble() > 0);
        }
        JsonNode greedy = ask(",\"n_probs\":2,\"post_sampling_probs\":true");
        assertEquals(1, greedy.at("/completion_probabilities/0/top_probs").size());
        assertEquals(1, greedy.at("/completion_probabilities/0/prob").asDouble());
        JsonNode chat = server.answer(
                "/v1/chat/completions",
                "{\"max_tokens\":2,\"temperature\":0,\"logprobs\":true,\"post_sampling_probs\":true,"
                        + "\"messages\":[{\"role\":\"user\",\"content\":\"A\"}]}");
        assertEquals(0, chat.at("/choices/0/logprobs/content/0/logprob").asDouble());
        refuses("post_sampling_probs", "1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"n_cmpl", "n"})
    void severalRepliesShareTheirPrompt(String field) throws Exception {
        String prompt = "The hare and the hedgehog of " + field + " went on. ".repeat(40);
        String body =
                "{\"prompt\":\"" + prompt + "\",\"n_predict\":3,\"temperature\":1,\"seed\":5,\"" + field + "\":3%s}";
        JsonNode replies = server.answer(PATH, body.formatted(""));
        assertEquals(3, replies.size());
        Set<String> texts = new HashSet<>();
        int computed = 0;
        for (int i = 0; i < 3; i++) {
            assertEquals(i, replies.get(i).get("index").asInt());
            assertEquals(5 + i, replies.get(i).at("/generation_settings/seed").asInt());
            texts.add(replies.get(i).get("content").asText());
            computed += replies.get(i).at("/timings/prompt_n").asInt();
        }
        assertTrue(texts.size() > 1, texts::toString);
        int tokens = replies.get(0).get("tokens_evaluated").asInt();
        assertTrue(computed < 2 * tokens, computed + " tokens were run, of " + tokens);
        assertEquals(
                replies.get(1).get("content"),
                server.answer(PATH, body.formatted("")).get(1).get("content"));
        List<JsonNode> ends = server.events(PATH, body.formatted(",\"stream\":true")).stream()
                .filter(event -> event.get("stop").asBoolean())
                .toList();
        assertEquals(
                List.of(0, 1, 2),
                ends.stream().map(end -> end.get("index").asInt()).toList());
        refuses(field, "0");
        refuses(field, "1000");
    }

    /// A message that is continued inside its reasoning.
    private static String thinking(String fields) {
        return "{\"max_tokens\":40,\"temperature\":0,\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"},"
                + "{\"role\":\"assistant\",\"content\":\"<think>Once upon a\"}]" + fields + "}";
    }

    private static JsonNode chat(String fields) throws Exception {
        return server.answer("/v1/chat/completions", thinking(fields)).at("/choices/0/message");
    }

    @Test
    void reasoningHasABudget() throws Exception {
        assertEquals("", chat("").get("content").asText());
        for (String fields : List.of(
                ",\"reasoning_budget_tokens\":3", ",\"thinking_budget_tokens\":3", ",\"reasoning_effort\":\"low\"")) {
            JsonNode message = chat(fields);
            assertTrue(message.get("reasoning_content").asText().endsWith(" Enough."), message::toString);
            assertFalse(message.get("content").asText().isEmpty(), message::toString);
        }
        JsonNode own = chat(",\"reasoning_budget_tokens\":2,\"reasoning_budget_message\":\" Stop.\"");
        assertTrue(own.get("reasoning_content").asText().endsWith(" Stop."), own::toString);
        assertEquals(
                " Enough.",
                chat(",\"reasoning_budget_tokens\":0").get("reasoning_content").asText());
        assertEquals(
                " Enough.",
                chat(",\"reasoning_effort\":\"none\"").get("reasoning_content").asText());
        for (String fields : List.of(
                ",\"reasoning_effort\":\"high\"",
                ",\"reasoning_budget_tokens\":-1",
                ",\"reasoning_effort\":\"low\",\"reasoning_budget_tokens\":100")) {
            assertEquals("", chat(fields).get("content").asText(), fields);
        }
        for (String field : List.of("reasoning_budget_tokens", "thinking_budget_tokens")) {
            JsonNode error = server.error(400, "/v1/chat/completions", thinking(",\"" + field + "\":-2"));
            assertEquals(field, error.get("param").asText());
        }
        server.error(400, "/v1/chat/completions", thinking(",\"reasoning_budget_message\":1"));
    }

    @Test
    void reasoningHasABudgetInAnthropicsForm() throws Exception {
        String body = thinking(",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":%s}");
        JsonNode content = server.answer("/v1/messages", body.formatted(3)).get("content");
        assertEquals("thinking", content.at("/0/type").asText());
        assertTrue(content.at("/0/thinking").asText().endsWith(" Enough."), content::toString);
        assertEquals("text", content.at("/1/type").asText());
        JsonNode effort = server.answer("/v1/messages", thinking(",\"output_config\":{\"effort\":\"low\"}"))
                .get("content");
        assertEquals(content, effort);
        assertEquals(
                1,
                server.answer("/v1/messages", body.formatted(500))
                        .get("content")
                        .size());
        server.error(400, "/v1/messages", body.formatted(-1));
    }

    @Test
    void aServerHasABudgetForRequestsThatSayNothing() throws Exception {
        try (ServerFixture strict =
                new ServerFixture(options -> options.chatDefaults(new ChatDefaults(2, " Stop.", Map.of(), false)))) {
            JsonNode message =
                    strict.answer("/v1/chat/completions", thinking("")).at("/choices/0/message");
            assertTrue(message.get("reasoning_content").asText().endsWith(" Stop."), message::toString);
            String own = ",\"reasoning_budget_tokens\":100";
            JsonNode longer =
                    strict.answer("/v1/chat/completions", thinking(own)).at("/choices/0/message");
            assertEquals("", longer.get("content").asText());
            String counted = "{\"messages\":[{\"role\":\"user\",\"content\":\"A\"}]%s}";
            int without = strict.answer("/v1/messages/count_tokens", counted.formatted(""))
                    .get("input_tokens")
                    .asInt();
            String header = ",\"system\":\"x-anthropic-billing-header: cch=1;\"";
            int with = strict.answer("/v1/messages/count_tokens", counted.formatted(header))
                    .get("input_tokens")
                    .asInt();
            assertTrue(with > without, "the header stays where it is not dropped");
            assertEquals(
                    server.answer("/v1/messages/count_tokens", counted.formatted(""))
                            .get("input_tokens"),
                    server.answer("/v1/messages/count_tokens", counted.formatted(header))
                            .get("input_tokens"));
        }
    }
}
