package dev.tenon.platform.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchServeTests {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String MODELS = "{\"object\":\"list\",\"data\":[{\"id\":\"tiny\"},{\"id\":\"other\"}]}";
    private static final String ANSWER = """
            data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}

            : ping

            data: {"choices":[{"index":0,"delta":{"content":"one "}}]}

            data: {"choices":[{"index":0,"delta":{"content":"two three"}}]}

            data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}

            data: {"choices":[],"usage":{"completion_tokens":3}}

            data: [DONE]

            """;

    private final Queue<JsonNode> bodies = new ConcurrentLinkedQueue<>();
    private final Queue<String> keys = new ConcurrentLinkedQueue<>();
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final FakeConsole console = new FakeConsole();
    private ExecutorService threads;
    private HttpServer server;
    private volatile String models = MODELS;
    private volatile String answer = ANSWER;
    private volatile int status = 200;

    @BeforeEach
    void start() throws IOException {
        threads = Executors.newVirtualThreadPerTaskExecutor();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/v1/models", exchange -> answer(exchange, 200, models));
        server.createContext("/v1/chat/completions", exchange -> {
            most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
            bodies.add(JSON.readTree(exchange.getRequestBody()));
            keys.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
            atOnce.decrementAndGet();
            answer(exchange, status, answer);
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        threads.close();
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private int run(String... arguments) {
        String[] all = new String[arguments.length + 3];
        all[0] = "serve";
        all[1] = "--url";
        all[2] = "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        return console.run(new FakeModel(), all);
    }

    private List<JsonNode> rows() throws IOException {
        return console.text
                .toString()
                .lines()
                .map(line -> {
                    try {
                        return JSON.readTree(line);
                    } catch (IOException e) {
                        throw new AssertionError(line, e);
                    }
                })
                .toList();
    }

    @Test
    void eachLevelSendsItsRequestsAndCountsWhatTheServerSays() throws Exception {
        assertEquals(
                0, run("-c", "1,3", "--requests", "6", "-p", "5", "-n", "7", "-o", "jsonl"), console.errors::toString);

        List<JsonNode> rows = rows();
        assertEquals(2, rows.size());
        assertEquals(1, rows.get(0).get("clients").asInt());
        assertEquals(3, rows.get(1).get("clients").asInt());
        for (JsonNode row : rows) {
            assertEquals(0, row.get("failed").asInt());
            double requests = row.get("requests_per_second").asDouble();
            assertEquals(3 * requests, row.get("tokens_per_second").asDouble(), 0.01 * requests);
            assertTrue(
                    row.get("whole_ms_p50").asDouble() >= row.get("ttft_ms_p50").asDouble(), row::toString);
        }
        assertEquals(1 + 6 + 6, bodies.size());
        JsonNode body = bodies.peek();
        assertEquals("tiny", body.get("model").asText());
        assertEquals(7, body.get("max_tokens").asInt());
        assertTrue(body.get("stream").asBoolean());
        assertEquals(5, body.at("/messages/0/content").asText().split(" ").length);
    }

    @Test
    void promptsShareTheWordsThatTheyAreToldTo() {
        assertEquals(0, run("--requests", "2", "-p", "20", "--common-words", "8"), console.errors::toString);

        List<String> prompts = bodies.stream()
                .skip(1)
                .map(b -> b.at("/messages/0/content").asText())
                .toList();
        List<List<String>> words =
                prompts.stream().map(p -> List.of(p.split(" "))).toList();
        assertEquals(words.get(0).subList(0, 8), words.get(1).subList(0, 8));
        assertTrue(!words.get(0).equals(words.get(1)), prompts::toString);
    }

    @Test
    void aKeyIsReadFromAFile(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("key"), "secret\n");

        assertEquals(0, run("--api-key-file", file.toString(), "--requests", "1"), console.errors::toString);

        assertTrue(keys.stream().allMatch("Bearer secret"::equals), keys::toString);
    }

    @Test
    void failuresAreCountedByReason() throws Exception {
        status = 503;
        assertEquals(1, run("-c", "2", "--requests", "4", "-o", "jsonl"));

        assertEquals(4, rows().getFirst().get("failed").asInt());
        assertTrue(console.errors.toString().contains("4 of 4 requests failed: status 503"), console.errors::toString);
    }

    @Test
    void anErrorInTheStreamAndAStreamThatBreaksOffAreFailures() {
        answer = "data: {\"error\":{\"message\":\"no room\"}}\n\n";
        assertEquals(1, run("--requests", "1"));
        assertTrue(console.errors.toString().contains("1 of 1 requests failed: no room"), console.errors::toString);

        answer = ANSWER.replace("data: [DONE]", "");
        assertEquals(1, run("--requests", "1"));
        assertTrue(console.errors.toString().contains("the stream ended without [DONE]"), console.errors::toString);
    }

    @Test
    void whatIsNoServerIsNamed() {
        models = "{}";
        run("--requests", "1");
        assertTrue(console.errors.toString().contains("it lists no models (status 200)"), console.errors::toString);
    }

    @Test
    void moreCommonWordsThanWordsAreRefused() {
        assertEquals(2, run("-p", "5", "--common-words", "6"));
        assertTrue(
                console.errors.toString().contains("--common-words 6 is more than the 5 words"),
                console.errors::toString);
    }

    @Test
    void aServerThatIsNotThereAndAnAddressThatIsNoneAreNamed() throws Exception {
        server.stop(0);
        run();
        assertTrue(console.errors.toString().contains("refused the connection"), console.errors::toString);

        assertEquals(2, console.run(new FakeModel(), "serve", "--url", "foo"));
        assertTrue(console.errors.toString().contains("option '--url': 'foo'"), console.errors::toString);
    }
}
