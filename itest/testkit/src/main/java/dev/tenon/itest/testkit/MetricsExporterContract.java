package dev.tenon.itest.testkit;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.metrics.FinishedGeneration;
import dev.tenon.api.metrics.FinishedRequest;
import dev.tenon.api.metrics.MetricFamily;
import dev.tenon.api.metrics.MetricSeries;
import dev.tenon.api.metrics.MetricSeries.Bucket;
import dev.tenon.api.metrics.MetricsExporter;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// What every [MetricsExporter] has to keep to. What it sends, and where, is its own: the contract gives it nothing to
/// send to.
public abstract class MetricsExporterContract extends ToldContract<FinishedRequest> {
    private static final List<MetricFamily> METRICS = List.of(
            new MetricFamily("tenon:empty", MetricFamily.Kind.GAUGE, "Nothing yet.", List.of()),
            new MetricFamily(
                    "tenon:none",
                    MetricFamily.Kind.GAUGE,
                    "",
                    List.of(new MetricSeries(Map.of(), Double.NaN, List.of()))),
            new MetricFamily(
                    "tenon:tokens_total",
                    MetricFamily.Kind.COUNTER,
                    "Tokens.",
                    List.of(
                            new MetricSeries(Map.of("model_name", "a \"b\"\nc"), 0x1p62, List.of()),
                            new MetricSeries(Map.of("model_name", ""), 0, List.of()))),
            new MetricFamily(
                    "tenon:wait_seconds",
                    MetricFamily.Kind.HISTOGRAM,
                    "Waits.",
                    List.of(new MetricSeries(
                            Map.of(), 7.5, List.of(new Bucket(0.5, 0), new Bucket(Double.POSITIVE_INFINITY, 3))))));

    /// For subclasses.
    protected MetricsExporterContract() {}

    /// {@return what is under test}
    protected abstract MetricsExporter exporter();

    @Override
    final Consumer<FinishedRequest> told() {
        MetricsExporter exporter = exporter();
        return request -> exporter.finished(request, () -> METRICS);
    }

    private static FinishedRequest request(int status, FinishedGeneration... generations) {
        return new FinishedRequest(
                "id-1",
                "POST",
                status == 404 ? "none" : "/v1/chat/completions",
                status == 401 ? "" : "a key",
                status == 200 ? "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" : "",
                status,
                Instant.EPOCH,
                Duration.ofMillis(status),
                List.of(generations));
    }

    private static FinishedGeneration generation(FinishReason finish, int tokens) {
        return new FinishedGeneration(
                "a model: \"b\"",
                new Usage(tokens, 0, tokens, tokens, tokens, finish),
                Duration.ZERO,
                Duration.ofDays(tokens),
                Duration.ofNanos(tokens));
    }

    @Override
    final Stream<FinishedRequest> events() {
        return Stream.concat(
                Stream.of(200, 0, 401, 404, 500).map(status -> request(status)),
                Arrays.stream(FinishReason.values())
                        .flatMap(finish -> Stream.of(
                                request(200, generation(finish, 0)),
                                request(
                                        200,
                                        Collections.nCopies(20, generation(finish, 100))
                                                .toArray(FinishedGeneration[]::new)))));
    }
}
