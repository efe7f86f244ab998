package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.platform.server.http.HttpLimits;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Queue, departures of clients, drain and metrics. The limit on time ends a hang.
@Timeout(180)
class OperationsTests {
    private static final String PATH = "/v1/chat/completions";
    /// Runs until the client leaves, or the context is full.
    private static final String LONG =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"A tale.\"}],\"ignore_eos\":true%s}";

    private static void await(BooleanSupplier what) throws InterruptedException {
        while (!what.getAsBoolean()) {
            Thread.sleep(5);
        }
    }

    private static double metric(ServerFixture server, String name) {
        try {
            return server.get("/metrics")
                    .body()
                    .lines()
                    .filter(line -> line.startsWith("tenon:" + name))
                    .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                    .sum();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static Socket send(ServerFixture server, String body) throws IOException {
        Socket socket = new Socket("127.0.0.1", server.server.port());
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        OutputStream out = socket.getOutputStream();
        out.write(("POST " + PATH + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                        + bytes.length + "\r\n\r\n")
                .getBytes(StandardCharsets.UTF_8));
        out.write(bytes);
        out.flush();
        return socket;
    }

    /// A client that leaves a plain request gets nothing for whose sending it could be missed.
    @Test
    void aClientThatLeavesEndsItsGeneration() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.parallel(1).context(1024))) {
            for (String stream : List.of("", ",\"stream\":true")) {
                try (Socket socket = send(server, LONG.formatted(stream))) {
                    await(() -> metric(server, "num_requests_running") == 1);
                }
                await(() -> metric(server, "num_requests_running") == 0);
            }
            assertEquals(0, metric(server, "request_success_total"), "neither ended by itself");
            assertEquals(0, metric(server, "num_requests_waiting"));
            assertEquals(
                    200, server.post(PATH, LONG.formatted(",\"max_tokens\":2")).statusCode());
        }
    }

    @Test
    void aClientThatLeavesTheQueueIsForgotten() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.parallel(1).context(1024))) {
            try (Socket running = send(server, LONG.formatted(""))) {
                await(() -> metric(server, "num_requests_running") == 1);
                try (Socket waiting = send(server, LONG.formatted(""))) {
                    await(() -> metric(server, "num_requests_waiting") == 1);
                }
                await(() -> metric(server, "num_requests_waiting") == 0);
                assertEquals(1, metric(server, "num_requests_running"));
            }
        }
    }

    @Test
    void aFullQueueIsToldWithWhenToRetry() throws Exception {
        try (ServerFixture server =
                        new ServerFixture(b -> b.parallel(1).queue(0).context(1024));
                Socket running = send(server, LONG.formatted(""))) {
            await(() -> metric(server, "num_requests_running") == 1);
            HttpResponse<String> refused = server.post(PATH, LONG.formatted(",\"stream\":true"));
            assertEquals(503, refused.statusCode());
            assertEquals(
                    "queue_full",
                    ServerFixture.json(refused.body()).at("/error/code").asText());
            assertTrue(refused.headers().firstValue("Retry-After").isPresent());
        }
    }

    @Test
    void manyClientsAtOnceAllGetTheSameText() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.parallel(4).queue(100))) {
            String body = LONG.formatted(",\"max_tokens\":8,\"temperature\":0");
            List<CompletableFuture<String>> answers = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                answers.add(server.client
                        .sendAsync(server.request(PATH, body).build(), HttpResponse.BodyHandlers.ofString())
                        .thenApply(r -> ServerFixture.json(r.body())
                                .at("/choices/0/message/content")
                                .asText()));
            }
            String expected = answers.getFirst().get();
            assertFalse(expected.isEmpty());
            for (CompletableFuture<String> answer : answers) {
                assertEquals(expected, answer.get());
            }
            assertEquals(60, metric(server, "request_success_total"));
        }
    }

    /// The stream is silent while its request waits; comments come, and then the answer.
    @Test
    void aWaitingStreamGetsComments() throws Exception {
        HttpLimits limits =
                HttpLimits.defaults().withTimes(Duration.ofSeconds(5), Duration.ofSeconds(20), Duration.ofMillis(50));
        try (ServerFixture server =
                        new ServerFixture(b -> b.parallel(1).context(1024).limits(limits));
                Socket running = send(server, LONG.formatted(""))) {
            await(() -> metric(server, "num_requests_running") == 1);
            try (Socket waiting = send(server, LONG.formatted(",\"stream\":true,\"max_tokens\":3"))) {
                InputStream in = waiting.getInputStream();
                StringBuilder text = new StringBuilder();
                while (text.indexOf(": ping\n\n") < 0) {
                    text.append((char) in.read());
                }
                assertTrue(text.toString().startsWith("HTTP/1.1 200"), text::toString);
                running.close();
                assertTrue(new String(in.readAllBytes(), StandardCharsets.UTF_8).contains("[DONE]"));
            }
        }
    }

    @Test
    void drainingEndsWhatRunsAndRefusesTheRest() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.parallel(2).context(1024))) {
            CompletableFuture<HttpResponse<String>> shorter = server.client.sendAsync(
                    server.request(PATH, LONG.formatted(",\"max_tokens\":60")).build(),
                    HttpResponse.BodyHandlers.ofString());
            await(() -> metric(server, "num_requests_running") == 1);
            assertEquals(200, server.get("/ready").statusCode());
            Thread drain = Thread.startVirtualThread(() -> server.server.drain(Duration.ofMinutes(2)));
            HttpResponse<String> answer = shorter.get();
            assertEquals(200, answer.statusCode(), answer::body);
            drain.join();
            server.server.awaitEnd();
        }
    }

    @Test
    void aServerThatIsNotReadyAnyMoreTakesWorkUntilItsDelayIsOver() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.context(1024))) {
            Thread drain =
                    Thread.startVirtualThread(() -> server.server.drain(Duration.ofHours(1), Duration.ofMinutes(2)));
            await(() -> status(server, "/ready") == 503);
            assertEquals(200, status(server, "/livez"));
            assertEquals(
                    200, server.post(PATH, LONG.formatted(",\"max_tokens\":2")).statusCode());
            server.server.close();
            drain.join();
        }
    }

    private static int status(ServerFixture server, String path) {
        try {
            return server.get(path).statusCode();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatStillRunsAtTheEndOfADrainIsToldSo() throws Exception {
        try (ServerFixture server = new ServerFixture(b -> b.parallel(1).context(1024))) {
            CompletableFuture<HttpResponse<String>> running = server.client.sendAsync(
                    server.request(PATH, LONG.formatted("")).build(), HttpResponse.BodyHandlers.ofString());
            await(() -> metric(server, "num_requests_running") == 1);
            server.server.drain(Duration.ZERO);
            assertEquals(503, running.get().statusCode());
            assertEquals(
                    "shutting_down",
                    ServerFixture.json(running.get().body()).at("/error/code").asText());
        }
    }

    @Test
    void proposedTokensAreCounted() throws Exception {
        LoadRequest request = LoadRequest.builder(ServerFixture.MODEL)
                .threads(2)
                .settings(Map.of("speculate", "ngram"))
                .build();
        try (ServerFixture server = new ServerFixture(b -> b.model("quick", request))) {
            JsonNode timings = server.answer(
                            "/completion",
                            "{\"model\":\"quick\",\"prompt\":\"" + "The fox ran to the hen. ".repeat(8)
                                    + "\",\"n_predict\":40,\"temperature\":0,\"ignore_eos\":true}")
                    .get("timings");
            assertTrue(timings.get("draft_n").asInt() > 0, timings::toString);
            assertTrue(timings.get("draft_n_accepted").asInt()
                    <= timings.get("draft_n").asInt());
            String text = server.get("/metrics").body();
            for (String[] each :
                    new String[][] {{"draft_tokens", "draft_n"}, {"accepted_tokens", "draft_n_accepted"}}) {
                assertTrue(
                        text.contains("tenon:spec_decode_num_" + each[0] + "_total{model_name=\"quick\"} "
                                + timings.get(each[1]).asInt()),
                        text);
            }
        }
    }

    @Test
    void metricsCountTokensAndTimes() throws Exception {
        try (ServerFixture server = new ServerFixture()) {
            JsonNode answer = server.answer(PATH, LONG.formatted(",\"max_tokens\":5"));
            assertEquals(answer.at("/usage/prompt_tokens").asInt(), metric(server, "prompt_tokens_total"));
            assertEquals(5, metric(server, "generation_tokens_total"));
            assertEquals(1, metric(server, "time_to_first_token_seconds_count"));
            assertEquals(4, metric(server, "inter_token_latency_seconds_count"));
            String text = server.get("/metrics").body();
            assertTrue(text.contains("# TYPE tenon:time_to_first_token_seconds histogram"), text);
            assertTrue(
                    text.contains("tenon:request_success_total{model_name=\"story\",finished_reason=\"length\"} 1"),
                    text);
            assertTrue(text.contains("le=\"+Inf\""), text);
            assertTrue(
                    Pattern.compile("tenon:cache_config_info\\{model_name=\"story\",block_size=\"[1-9]\\d*\","
                                    + "num_gpu_blocks=\"[1-9]\\d*\"} 1\n")
                            .matcher(text)
                            .find(),
                    text);
            assertTrue(text.contains("# TYPE tenon:num_preemptions_total counter"), text);
            assertTrue(metric(server, "kv_cache_usage_perc") >= 0 && metric(server, "kv_cache_usage_perc") <= 1, text);
        }
    }
}
