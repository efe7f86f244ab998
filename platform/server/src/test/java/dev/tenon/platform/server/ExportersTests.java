package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.metrics.FinishedGeneration;
import dev.tenon.api.metrics.FinishedRequest;
import dev.tenon.api.metrics.MetricFamily;
import dev.tenon.api.metrics.MetricSeries;
import dev.tenon.api.metrics.MetricsExporter;
import dev.tenon.api.metrics.MetricsSource;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.server.metrics.PrometheusText;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What exporters are told. The limit on time ends a hang.
@Timeout(180)
class ExportersTests {
    private static final String PATH = "/v1/completions";
    private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    private final BlockingQueue<FinishedRequest> told = new LinkedBlockingQueue<>();
    private final AtomicReference<MetricsSource> source = new AtomicReference<>();

    private ServerFixture server(MetricsExporter... exporters) {
        return new ServerFixture(builder -> ((StandaloneEngine) builder.engine).installProviders((Object[]) exporters));
    }

    private void export(FinishedRequest request, MetricsSource metrics) {
        source.set(metrics);
        told.add(request);
    }

    private FinishedRequest next() throws InterruptedException {
        FinishedRequest request = told.poll(60, TimeUnit.SECONDS);
        assertNotNull(request, "nothing was told");
        return request;
    }

    @Test
    void aRequestIsToldWithEachOfItsReplies() throws Exception {
        MetricsExporter broken = (request, metrics) -> {
            throw new IllegalStateException("an exporter that is broken");
        };
        try (ServerFixture server = server(broken, this::export)) {
            Instant before = Instant.now().truncatedTo(ChronoUnit.MILLIS);
            HttpResponse<String> answer = server.send(server.request(
                            PATH, "{\"prompt\":\"Once\",\"n\":2,\"max_tokens\":3,\"ignore_eos\":true,\"seed\":1}")
                    .header("traceparent", TRACE));
            assertEquals(200, answer.statusCode(), answer::body);
            FinishedRequest request = next();
            assertEquals(answer.headers().firstValue("X-Request-Id").orElseThrow(), request.id());
            assertEquals("POST " + PATH + " 200", request.method() + " " + request.endpoint() + " " + request.status());
            assertEquals("", request.principal());
            assertEquals(TRACE, request.traceParent());
            assertFalse(request.begin().isBefore(before) || request.begin().isAfter(Instant.now()));
            assertEquals(2, request.generations().size());
            for (FinishedGeneration each : request.generations()) {
                assertEquals("story", each.model());
                assertEquals(3, each.usage().generatedTokens());
                assertEquals(FinishReason.LENGTH, each.usage().finish());
                assertTrue(each.queued().compareTo(each.firstToken()) <= 0, each::toString);
                assertTrue(each.firstToken().compareTo(each.time()) <= 0, each::toString);
                assertTrue(each.time().compareTo(request.time()) <= 0, each::toString);
                assertTrue(each.firstToken().compareTo(Duration.ZERO) > 0, each::toString);
            }
        }
    }

    @Test
    void aRequestThatIsRefusedIsToldToo() throws Exception {
        try (ServerFixture server = server(this::export)) {
            assertEquals(
                    404,
                    server.send(server.request(PATH, "{\"model\":\"none\",\"prompt\":\"a\"}")
                                    .header("traceparent", "no trace"))
                            .statusCode());
            assertEquals(404, server.get("/nothing").statusCode());
            FinishedRequest refused = next();
            assertEquals(PATH + " 404", refused.endpoint() + " " + refused.status());
            assertEquals("", refused.traceParent());
            assertEquals(List.of(), refused.generations());
            assertEquals("none", next().endpoint());
        }
    }

    /// Between the page and the reading nothing but the page's own request is counted.
    @Test
    void theCountersAreThoseOfThePage() throws Exception {
        try (ServerFixture server = server(this::export)) {
            server.answer(PATH, "{\"prompt\":\"Once\",\"max_tokens\":3,\"ignore_eos\":true}");
            next();
            String page = server.get("/metrics").body();
            next();
            List<MetricFamily> families = source.get().read();
            MetricFamily tokens = families.stream()
                    .filter(family -> family.name().equals("tenon:generation_tokens_total"))
                    .findFirst()
                    .orElseThrow();
            assertEquals(MetricFamily.Kind.COUNTER, tokens.kind());
            assertEquals(List.of(new MetricSeries(Map.of("model_name", "story"), 3, List.of())), tokens.series());
            assertEquals(plain(page), plain(PrometheusText.of(families)));
        }
    }

    private static List<String> plain(String text) {
        return text.lines()
                .filter(line -> !line.startsWith("tenon:http_requests_total{path=\"/metrics\"")
                        && !line.startsWith("tenon:http_connections"))
                .toList();
    }

    private static int dropped(ServerFixture server) throws Exception {
        String name = "tenon:exporter_dropped_requests_total ";
        return server.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(name))
                .mapToInt(line -> Integer.parseInt(line.substring(name.length())))
                .sum();
    }

    @Test
    void noRequestWaitsForAnExporterAndWhatIsDroppedIsCounted() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        MetricsExporter stuck = (request, metrics) -> {
            called.countDown();
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            export(request, metrics);
        };
        try (ServerFixture server = server(stuck)) {
            server.get("/health");
            called.await();
            for (int i = 0; i < 1010; i++) {
                assertEquals(200, server.get("/health").statusCode());
            }
            assertEquals(0, told.size());
            while (dropped(server) < 10) { // the last ones may be counted after their answers
                Thread.onSpinWait();
            }
            go.countDown();
            for (int i = 0; i < 1001; i++) {
                next();
            }
        }
    }
}
