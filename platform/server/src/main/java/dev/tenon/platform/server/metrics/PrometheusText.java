package dev.tenon.platform.server.metrics;

import dev.tenon.api.metrics.MetricFamily;
import dev.tenon.api.metrics.MetricSeries;
import dev.tenon.api.metrics.MetricSeries.Bucket;
import java.util.List;
import java.util.Locale;

/// Writes metrics in the text format of Prometheus.
public final class PrometheusText {
    /// Its content type.
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final StringBuilder out = new StringBuilder();

    private PrometheusText() {}

    /// {@return the text}
    ///
    /// @param families the metrics
    public static String of(List<MetricFamily> families) {
        PrometheusText text = new PrometheusText();
        families.forEach(text::write);
        return text.out.toString();
    }

    private void write(MetricFamily family) {
        String name = family.name();
        String kind = family.kind().name().toLowerCase(Locale.ROOT);
        out.append("# HELP ").append(name).append(' ').append(family.help()).append('\n');
        out.append("# TYPE ").append(name).append(' ').append(kind).append('\n');
        for (MetricSeries series : family.series()) {
            String labels = Labels.text(series.labels());
            if (family.kind() == MetricFamily.Kind.HISTOGRAM) {
                histogram(name, labels, series);
            } else {
                line(name, labels, series.value());
            }
        }
    }

    private void histogram(String name, String labels, MetricSeries series) {
        long total = 0;
        String before = labels.isEmpty() ? "" : labels + ",";
        for (Bucket bucket : series.buckets()) {
            total += bucket.count();
            String most = Double.isInfinite(bucket.most()) ? "+Inf" : number(bucket.most());
            line(name + "_bucket", before + "le=\"" + most + "\"", total);
        }
        line(name + "_sum", labels, series.value());
        line(name + "_count", labels, total);
    }

    private void line(String name, String labels, double value) {
        out.append(name);
        if (!labels.isEmpty()) {
            out.append('{').append(labels).append('}');
        }
        out.append(' ').append(number(value)).append('\n');
    }

    /// {@return a number as Prometheus writes it: whole ones without a fraction}
    private static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? String.format(Locale.ROOT, "%d", (long) value)
                : Double.toString(value);
    }
}
