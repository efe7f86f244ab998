package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.platform.contracts.framework.FreshFramework;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/// A server of this distribution, in a process of its own and at loopback, answers as its page says, and ends at
/// SIGTERM.
/// The limit on time ends a hang.
@Timeout(600)
final class ServerContract {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String CHAT = "/v1/chat/completions";
    private static final String COMPLETIONS = "/v1/completions";
    private static final String LISTENING = "Listening at ";
    private static final int CLIENTS = 16;

    private static volatile List<String> selected;

    private static FreshFramework.Running running;
    private static BufferedReader output;
    private static String address;
    private static HttpClient client;

    /// @param arguments which model and backend: options of `serve`
    static void select(List<String> arguments) {
        selected = List.copyOf(arguments);
    }

    @BeforeAll
    static void start() throws IOException {
        client = HttpClient.newHttpClient();
        running = serve();
        output = running.process().inputReader();
        address = listening(output);
    }

    private static FreshFramework.Running serve() {
        List<String> arguments = new ArrayList<>(List.of("serve", "--host", "127.0.0.1", "--port", "0"));
        arguments.addAll(List.of("--parallel", "4", "--queue", "64", "--context", "512"));
        arguments.addAll(selected);
        return FreshFramework.serve(arguments);
    }

    private static String listening(BufferedReader lines) throws IOException {
        String line = lines.readLine();
        assertTrue(line != null && line.startsWith(LISTENING), "the server did not start: " + line);
        return line.substring(LISTENING.length());
    }

    @AfterAll
    static void stop() throws IOException {
        client.close();
        if (running != null) {
            running.close();
            output.close();
        }
    }

    private static HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(address + path));
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest.Builder post(String path, String body) {
        return request(path).header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
    }

    private static JsonNode answer(String path, String body) throws Exception {
        HttpResponse<String> response = send(post(path, body));
        assertEquals(200, response.statusCode(), response.body());
        return MAPPER.readTree(response.body());
    }

    /// The events of a stream, without `[DONE]`.
    private static List<JsonNode> events(String path, String body) throws Exception {
        HttpResponse<String> response = send(post(path, body));
        assertEquals(200, response.statusCode(), response.body());
        List<JsonNode> events = new ArrayList<>();
        for (String line : response.body().lines().toList()) {
            if (line.startsWith("data: {")) {
                events.add(MAPPER.readTree(line.substring("data: ".length())));
            }
        }
        return events;
    }

    private static String chat(String more) {
        return "{\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}],\"temperature\":0" + more + "}";
    }

    private static String completion(String more) {
        return "{\"prompt\":\"Once upon a time\",\"temperature\":0,\"ignore_eos\":true" + more + "}";
    }

    @TestFactory
    Stream<DynamicTest> pathsAnswer() {
        return Stream.of("/health", "/livez", "/ready", "/readyz", "/metrics", "/v1/models", "/models")
                .map(path -> dynamicTest(
                        path, () -> assertEquals(200, send(request(path)).statusCode())));
    }

    private record Refused(String what, int status, HttpRequest.Builder request) {}

    @TestFactory
    Stream<DynamicTest> whatIsWrongIsRefused() {
        return Stream.of(
                        new Refused("no JSON", 400, post(CHAT, "{")),
                        new Refused("a field twice", 400, post(CHAT, "{\"model\":\"a\",\"model\":\"b\"}")),
                        new Refused("an unknown field", 400, post(CHAT, chat(",\"no_such_field\":1"))),
                        new Refused("a wrong type", 400, post(CHAT, chat(",\"max_tokens\":\"many\""))),
                        new Refused("a number out of range", 400, post(CHAT, chat(",\"top_p\":2"))),
                        new Refused("no messages", 400, post(CHAT, "{}")),
                        new Refused("a schema that is none", 400, post(CHAT, chat(",\"json_schema\":{\"type\":7}"))),
                        new Refused(
                                "a grammar that is none", 400, post(CHAT, chat(",\"grammar\":\"root ::= missing\""))),
                        new Refused("an unknown model", 404, post(CHAT, chat(",\"model\":\"no such model\""))),
                        new Refused("an unknown path", 404, request("/v1/nothing")),
                        new Refused("a wrong method", 405, request(CHAT)),
                        new Refused(
                                "a body that is not called JSON",
                                415,
                                request(CHAT)
                                        .header("Content-Type", "text/plain")
                                        .POST(HttpRequest.BodyPublishers.ofString(chat("")))))
                .map(each -> dynamicTest(each.what(), () -> {
                    HttpResponse<String> response = send(each.request());
                    assertEquals(each.status(), response.statusCode(), response.body());
                    assertFalse(
                            MAPPER.readTree(response.body())
                                    .at("/error/message")
                                    .asText()
                                    .isEmpty(),
                            response.body());
                }));
    }

    @Test
    void anotherHostNameIsRefused() throws Exception {
        URI uri = URI.create(address);
        try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
            OutputStream out = socket.getOutputStream();
            out.write("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII));
            out.flush();
            String status = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(status.startsWith("HTTP/1.1 4"), status);
        }
    }

    @Test
    void theSameTextComesAtOnceAndInPieces() throws Exception {
        String whole = answer(COMPLETIONS, completion(",\"max_tokens\":12"))
                .at("/choices/0/text")
                .asText();
        StringBuilder pieces = new StringBuilder();
        for (JsonNode event : events(COMPLETIONS, completion(",\"max_tokens\":12,\"stream\":true"))) {
            pieces.append(event.at("/choices/0/text").asText());
        }
        assertFalse(whole.isEmpty());
        assertEquals(whole, pieces.toString());
    }

    @Test
    void tokensAreCountedAndPromptsThatComeAgainAreCached() throws Exception {
        String body = completion(",\"max_tokens\":3").replace("Once", "Once ".repeat(100) + "Once");
        JsonNode first = answer(COMPLETIONS, body).get("usage");
        JsonNode second = answer(COMPLETIONS, body).get("usage");
        assertEquals(3, first.get("completion_tokens").asInt());
        assertEquals(first.get("prompt_tokens"), second.get("prompt_tokens"));
        assertTrue(second.at("/prompt_tokens_details/cached_tokens").asInt() > 0, second::toString);
    }

    @Test
    void aStreamBeginsWithARoleAndEndsWithAReason() throws Exception {
        List<JsonNode> events = events(CHAT, chat(",\"max_tokens\":4,\"stream\":true"));
        assertEquals("assistant", events.getFirst().at("/choices/0/delta/role").asText());
        assertFalse(events.getLast().at("/choices/0/finish_reason").isNull(), events::toString);
        HttpResponse<String> raw = send(post(CHAT, chat(",\"max_tokens\":2,\"stream\":true")));
        assertTrue(raw.body().strip().endsWith("data: [DONE]"), raw.body());
    }

    @Test
    void severalChoicesAreNumbered() throws Exception {
        JsonNode choices =
                answer(COMPLETIONS, completion(",\"max_tokens\":3,\"n\":3")).get("choices");
        assertEquals(3, choices.size());
        for (int i = 0; i < choices.size(); i++) {
            assertEquals(i, choices.get(i).get("index").asInt());
        }
    }

    @Test
    void aStopTextEndsTheReply() throws Exception {
        String whole = answer(COMPLETIONS, completion(",\"max_tokens\":24"))
                .at("/choices/0/text")
                .asText();
        String stop = whole.substring(whole.length() / 2, whole.length() / 2 + 3);
        JsonNode choice = answer(
                        COMPLETIONS,
                        completion(",\"max_tokens\":24,\"stop\":[" + MAPPER.writeValueAsString(stop) + "]"))
                .at("/choices/0");
        assertEquals(whole.substring(0, whole.indexOf(stop)), choice.get("text").asText());
        assertEquals("stop", choice.get("finish_reason").asText());
    }

    @Test
    void logProbabilitiesComeWithTheirTokens() throws Exception {
        JsonNode tokens = answer(
                        CHAT, chat(",\"max_tokens\":3,\"ignore_eos\":true,\"logprobs\":true,\"top_logprobs\":2"))
                .at("/choices/0/logprobs/content");
        assertEquals(3, tokens.size());
        for (JsonNode token : tokens) {
            assertTrue(token.get("logprob").asDouble() <= 0);
            assertEquals(2, token.get("top_logprobs").size());
        }
    }

    @Test
    void aSchemaIsKept() throws Exception {
        String schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"enum\":[1,2]}},"
                + "\"required\":[\"n\"],\"additionalProperties\":false}";
        String text = answer(CHAT, chat(",\"max_tokens\":200,\"json_schema\":" + schema))
                .at("/choices/0/message/content")
                .asText();
        assertTrue(MAPPER.readTree(text).get("n").asInt() > 0, text);
    }

    @Test
    void theFormsOfOthersAnswer() throws Exception {
        JsonNode response = answer("/v1/responses", "{\"input\":\"A tale.\",\"max_output_tokens\":4}");
        assertEquals("response", response.get("object").asText());
        JsonNode message =
                answer("/v1/messages", "{\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}]}");
        assertEquals("message", message.get("type").asText());
    }

    @Test
    void manyClientsAtOnceGetTheSameText() throws Exception {
        String body = completion(",\"max_tokens\":8");
        String expected = answer(COMPLETIONS, body).at("/choices/0/text").asText();
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            answers.add(client.sendAsync(post(COMPLETIONS, body).build(), HttpResponse.BodyHandlers.ofString()));
        }
        for (CompletableFuture<HttpResponse<String>> each : answers) {
            assertEquals(
                    expected,
                    MAPPER.readTree(each.get().body()).at("/choices/0/text").asText());
        }
    }

    @Test
    void aClientThatLeavesEndsItsGeneration() throws Exception {
        URI uri = URI.create(address);
        byte[] body = completion(",\"max_tokens\":480,\"stream\":true").getBytes(StandardCharsets.UTF_8);
        try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
            OutputStream out = socket.getOutputStream();
            out.write(("POST " + COMPLETIONS + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                            + "Content-Length: " + body.length + "\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            out.write(body);
            out.flush();
            assertTrue(socket.getInputStream().read() >= 0);
        }
        while (!metrics().matches("(?s).*num_requests_running\\{[^}]*} 0\n.*")) {
            Thread.onSpinWait();
        }
    }

    private static String metrics() throws Exception {
        return send(request("/metrics")).body();
    }

    /// What runs ends, as it would have, and the process with status 0.
    @Test
    void sigtermLetsRunningRequestsEnd() throws Exception {
        try (FreshFramework.Running own = serve();
                BufferedReader lines = own.process().inputReader()) {
            String at = listening(lines);
            HttpRequest request = HttpRequest.newBuilder(URI.create(at + COMPLETIONS))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(completion(",\"max_tokens\":200")))
                    .build();
            CompletableFuture<HttpResponse<String>> answer =
                    client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
            HttpRequest metrics =
                    HttpRequest.newBuilder(URI.create(at + "/metrics")).build();
            while (!client.send(metrics, HttpResponse.BodyHandlers.ofString())
                    .body()
                    .matches("(?s).*num_requests_running\\{[^}]*} 1\n.*")) {
                assertFalse(answer.isDone(), "the request ended before it was seen to run");
            }
            own.process().destroy();
            HttpResponse<String> whole = answer.get();
            assertEquals(200, whole.statusCode(), whole.body());
            assertEquals(
                    200,
                    MAPPER.readTree(whole.body()).at("/usage/completion_tokens").asInt());
            assertEquals(0, own.process().waitFor());
        }
    }
}
