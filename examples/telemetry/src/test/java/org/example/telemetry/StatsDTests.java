package org.example.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.metrics.FinishedGeneration;
import dev.tenon.api.metrics.FinishedRequest;
import dev.tenon.api.metrics.MetricsExporter;
import dev.tenon.itest.testkit.MetricsExporterContract;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StatsDTests extends MetricsExporterContract {
    private final DatagramSocket server;

    StatsDTests() throws IOException {
        server = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        server.setSoTimeout(60_000);
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Override
    protected MetricsExporter exporter() {
        new TelemetrySettings().configured(Map.of("telemetry.statsd", "127.0.0.1:" + server.getLocalPort()));
        return new StatsD();
    }

    @Test
    void aRequestIsADatagram() throws IOException {
        FinishedGeneration generation = new FinishedGeneration(
                "story:4b",
                new Usage(5, 7, 3, 1, 1, FinishReason.LENGTH),
                Duration.ZERO,
                Duration.ofMillis(90),
                Duration.ofMillis(40));
        exporter()
                .finished(
                        new FinishedRequest(
                                "id",
                                "POST",
                                "/v1/completions",
                                "",
                                "",
                                200,
                                Instant.EPOCH,
                                Duration.ofMillis(100),
                                List.of(generation)),
                        List::of);
        DatagramPacket packet = new DatagramPacket(new byte[1000], 1000);
        server.receive(packet);
        assertEquals(
                """
                tenon.requests.200:1|c
                tenon.request_time:100|ms
                tenon.story_4b.prompt_tokens:12|c
                tenon.story_4b.generated_tokens:3|c
                tenon.story_4b.first_token_time:40|ms""",
                new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8));
    }
}
