package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Bodies that are wrong are refused in the client's words, in the form of errors of their wire. The limit on time ends
/// a hang.
@Timeout(300)
class MalformedBodyTests {
    private static final int BODIES = 120;
    /// Names of classes and settings of the program.
    private static final Pattern INNER = Pattern.compile(
            "Exception|Error:|fasterxml|jackson|java\\.|dev\\.tenon|[a-z]Node\\b|Read[A-Z]|`|\\[Source");
    private static final String MESSAGES = "\"messages\":[{\"role\":\"system\",\"content\":\"Tell.\"},"
            + "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"A fox.\"}]}]";
    private static final String FUNCTION =
            "{\"name\":\"now\",\"description\":\"d\",\"parameters\":{\"type\":\"object\","
                    + "\"properties\":{\"zone\":{\"type\":\"string\",\"enum\":[\"UTC\"]}},\"required\":[\"zone\"]}}";
    private static final String SAMPLING =
            "\"temperature\":0.5,\"top_p\":0.9,\"top_k\":5,\"seed\":1,\"stop\":[\"x\"],\"logit_bias\":{\"5\":1}";

    private static ServerFixture server;

    @BeforeAll
    static void start() {
        server = new ServerFixture(b -> b.embeddings(true));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /// A right request of an end point.
    private record Case(String path, String body) {
        @Override
        public String toString() {
            return path;
        }
    }

    static List<Case> cases() {
        return List.of(
                new Case(
                        "/v1/chat/completions",
                        "{" + MESSAGES + "," + SAMPLING
                                + ",\"max_tokens\":1,\"n\":1,\"stream\":false,\"tool_choice\":\"auto\","
                                + "\"tools\":[{\"type\":\"function\",\"function\":" + FUNCTION + "}],"
                                + "\"chat_template_kwargs\":{\"a\":1},\"reasoning_effort\":\"low\"}"),
                new Case(
                        "/v1/completions",
                        "{\"prompt\":[\"A\",[5,6]],\"max_tokens\":1,\"echo\":false,\"logprobs\":1," + SAMPLING + "}"),
                new Case(
                        "/v1/responses",
                        "{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"A fox.\"}]}],"
                                + "\"max_output_tokens\":1,\"reasoning\":{\"effort\":\"low\"},\"instructions\":\"Tell.\","
                                + "\"text\":{\"format\":{\"type\":\"text\"}},\"tools\":[{\"type\":\"function\","
                                + FUNCTION.substring(1) + "]}"),
                new Case(
                        "/v1/embeddings", "{\"input\":[\"A\",[5,6]],\"encoding_format\":\"float\",\"dimensions\":512}"),
                new Case(
                        "/v1/messages",
                        "{\"max_tokens\":1,\"system\":[{\"type\":\"text\",\"text\":\"Tell.\"}],\"messages\":[{\"role\":\"user\","
                                + "\"content\":[{\"type\":\"text\",\"text\":\"A fox.\"}]},{\"role\":\"assistant\",\"content\":"
                                + "[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"now\",\"input\":{}}]},{\"role\":\"user\","
                                + "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"1\"}]}],"
                                + "\"tools\":[{\"name\":\"now\",\"input_schema\":{\"type\":\"object\"}}],"
                                + "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},\"stop_sequences\":[\"x\"],"
                                + "\"output_config\":{\"effort\":\"low\"},\"tool_choice\":{\"type\":\"auto\"}}"),
                new Case(
                        "/v1/messages/count_tokens",
                        "{\"messages\":[{\"role\":\"user\",\"content\":\"A fox.\"}],\"thread\":{\"type\":\"create\"}}"),
                new Case(
                        "/api/chat",
                        "{\"model\":\"story\",\"messages\":[{\"role\":\"user\",\"content\":\"A fox.\"},{\"role\":\"assistant\","
                                + "\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"now\",\"arguments\":{}}}]},"
                                + "{\"role\":\"tool\",\"tool_name\":\"now\",\"content\":\"1\"}],\"stream\":false,"
                                + "\"format\":\"\",\"think\":false,\"keep_alive\":\"5m\",\"options\":{\"num_predict\":1,"
                                + "\"num_ctx\":100," + SAMPLING + "},\"tools\":[{\"type\":\"function\",\"function\":"
                                + FUNCTION + "}]}"),
                new Case(
                        "/api/generate",
                        "{\"model\":\"story\",\"prompt\":\"A\",\"system\":\"Tell.\",\"stream\":false,\"context\":[5,6],"
                                + "\"logprobs\":true,\"top_logprobs\":1,\"options\":{\"num_predict\":1}}"),
                new Case(
                        "/api/embed",
                        "{\"model\":\"story\",\"input\":[\"A\"],\"truncate\":true,\"options\":{\"num_ctx\":9}}"),
                new Case("/api/show", "{\"model\":\"story\",\"verbose\":false}"),
                new Case(
                        "/completion",
                        "{\"prompt\":[5,\"A\"],\"n_predict\":1,\"n_probs\":1,\"stream\":false," + SAMPLING + "}"),
                new Case("/tokenize", "{\"content\":\"A fox.\",\"add_special\":true}"),
                new Case("/detokenize", "{\"tokens\":[5,6]}"),
                new Case("/apply-template", "{" + MESSAGES + "}"));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void whatIsNoJsonObjectIsRefused(Case each) throws Exception {
        assertEquals(
                200,
                send(each.path(), each.body().getBytes(StandardCharsets.UTF_8)).statusCode());
        MalformedBodies bodies = new MalformedBodies(new SplittableRandom(1), each.body());
        for (int i = 0; i < BODIES; i++) {
            byte[] body = bodies.unreadable();
            assertRefused(each.path(), body, send(each.path(), body));
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void whatIsOfAWrongTypeIsRefusedOrMeansSomething(Case each) throws Exception {
        MalformedBodies bodies = new MalformedBodies(new SplittableRandom(2), each.body());
        int refused = 0;
        for (int i = 0; i < BODIES; i++) {
            byte[] body = bodies.misused();
            HttpResponse<String> answer = send(each.path(), body);
            if (answer.statusCode() != 200) {
                refused++;
                assertRefused(each.path(), body, answer);
            }
        }
        assertTrue(refused > BODIES / 3, each.path() + " refused only " + refused);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {"model":"a","model":"b"}                    | the field 'model' comes twice
            {"messages":[{"role":"a","role":"b"}]}       | in messages[0]
            {"messages":[{"role":"user","content":x}]}   | in messages[0].content (line 1, column 41): Unrecognized token 'x'
            {"messages":[{"role":"user"                  | it ends too early
            {"messages":[]} {}                           | something follows its end
            [1]                                          | The body is an array; expected a JSON object.
            {"messages":"Hi"}                            | messages is "Hi"; expected an array.
            {"messages":[3]}                             | messages[0] is 3; expected an object.
            {"messages":[{"role":"user","content":{}}]}  | messages[0].content is an object; expected an array.
            """)
    void messagesSayWhatAndWhere(String body, String words) throws Exception {
        JsonNode error = server.error(400, "/v1/chat/completions", body);
        assertTrue(error.get("message").asText().contains(words), error::toString);
    }

    @Test
    void aWrongMethodIsToldInTheFormOfThePath() throws Exception {
        assertTrue(
                ServerFixture.json(server.get("/api/chat").body()).get("error").isTextual());
        assertEquals(
                "error",
                ServerFixture.json(server.get("/v1/messages").body())
                        .get("type")
                        .asText());
    }

    private static HttpResponse<String> send(String path, byte[] body) throws Exception {
        return server.send(HttpRequest.newBuilder(server.uri(path)).POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    private static void assertRefused(String path, byte[] body, HttpResponse<String> answer) {
        String shown = path + " " + new String(body, StandardCharsets.UTF_8) + " -> " + answer.statusCode() + " "
                + answer.body();
        assertTrue(answer.statusCode() >= 400 && answer.statusCode() < 500, shown);
        JsonNode error = ServerFixture.json(answer.body()).path("error");
        String message;
        if (path.startsWith("/api/")) {
            assertTrue(error.isTextual(), shown);
            message = error.asText();
        } else {
            assertTrue(error.path("type").isTextual(), shown);
            message = error.path("message").asText();
            assertEquals(
                    path.startsWith("/v1/messages"),
                    ServerFixture.json(answer.body()).path("type").asText().equals("error") && !error.has("code"),
                    shown);
        }
        assertFalse(message.isBlank() || INNER.matcher(message).find(), shown);
    }
}
