package org.example.telemetry;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.metrics.FinishedGeneration;
import dev.tenon.api.metrics.FinishedRequest;
import dev.tenon.api.metrics.MetricsExporter;
import dev.tenon.api.metrics.MetricsSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.osgi.service.component.annotations.Component;

/// Sends a datagram for each request to the StatsD server that the setting `telemetry.statsd` names, such as
/// `127.0.0.1:8125`: requests by status, their time, and the tokens of each model.
@Component(service = MetricsExporter.class)
@ServiceProvider(value = MetricsExporter.class, resolution = Resolution.OPTIONAL)
public final class StatsD implements MetricsExporter {
    @Override
    public void finished(FinishedRequest request, MetricsSource metrics) {
        String server = TelemetrySettings.value(TelemetrySettings.STATSD);
        if (server.isEmpty()) {
            return;
        }
        byte[] bytes = String.join("\n", lines(request)).getBytes(StandardCharsets.UTF_8);
        int colon = server.lastIndexOf(':');
        try (DatagramSocket socket = new DatagramSocket()) {
            InetSocketAddress address =
                    new InetSocketAddress(server.substring(0, colon), Integer.parseInt(server.substring(colon + 1)));
            socket.send(new DatagramPacket(bytes, bytes.length, address));
        } catch (IOException e) {
            throw new UncheckedIOException("Nothing can be sent to " + server, e); // logged
        }
    }

    private static List<String> lines(FinishedRequest request) {
        List<String> lines = new ArrayList<>();
        lines.add("tenon.requests." + request.status() + ":1|c");
        lines.add("tenon.request_time:" + request.time().toMillis() + "|ms");
        for (FinishedGeneration each : request.generations()) {
            String model = "tenon." + each.model().replaceAll("[^A-Za-z0-9_-]", "_");
            lines.add(model + ".prompt_tokens:"
                    + (each.usage().promptTokens() + each.usage().cachedTokens()) + "|c");
            lines.add(model + ".generated_tokens:" + each.usage().generatedTokens() + "|c");
            lines.add(model + ".first_token_time:" + each.firstToken().toMillis() + "|ms");
        }
        return lines;
    }
}
