package dev.tenon.platform.server.metrics;

import dev.tenon.api.metrics.MetricFamily;
import dev.tenon.api.metrics.MetricSeries;
import dev.tenon.api.metrics.MetricsSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/// What the server has done, for Prometheus and exporters. A series comes into being when it is first used. Safe for
/// any thread.
public final class Metrics implements MetricsSource {
    private static final String COUNTER = "counter";
    private static final String HISTOGRAM = "histogram";
    private static final double[] SECONDS = {
        .001, .0025, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160
    };
    /// From what a fast device takes for a token to what a busy one does; those of OpenTelemetry are among them.
    private static final double[] TOKEN_SECONDS = {
        .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 10, 40
    };
    private static final double[] TOKENS = {
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000
    };

    private final String prefix;
    private final Map<String, Family> families = new ConcurrentSkipListMap<>();
    /// Counters and histograms by name and labels, as kind, help and the JDK's adders.
    private final ConcurrentMap<String, Object[]> counts;

    /// @param prefix what names begin with, such as `tenon:`
    /// @param before the [#counts()] of the metrics to go on with, of any version of this class;
    ///     null to begin with none
    public Metrics(String prefix, ConcurrentMap<String, Object[]> before) {
        this.prefix = prefix;
        this.counts = before == null ? new ConcurrentHashMap<>() : before;
    }

    /// {@return counters and histograms, for others to go on with while these do, too}
    public ConcurrentMap<String, Object[]> counts() {
        return counts;
    }

    /// {@return what counts in a series, for all who share it}
    private Object[] shared(String name, String labels, Object... fresh) {
        return counts.compute(
                name + '\n' + labels, (key, known) -> known != null && known[0].equals(fresh[0]) ? known : fresh);
    }

    private static Object series(Object... shared) {
        return shared[0].equals(HISTOGRAM)
                ? new Histogram((double[]) shared[2], (LongAdder[]) shared[3], (DoubleAdder) shared[4])
                : shared[2];
    }

    private record Family(String kind, String help, Map<String, Object> series) {}

    private Family family(String name, String kind, String help) {
        return families.computeIfAbsent(name, n -> new Family(kind, help, new ConcurrentSkipListMap<>()));
    }

    /// Adds to a counter.
    ///
    /// @param name its name without prefix, ending in `_total`
    /// @param help what it counts
    /// @param labels see [#labels]
    /// @param count how many more
    public void count(String name, String help, String labels, long count) {
        ((LongAdder) family(name, COUNTER, help)
                        .series()
                        .computeIfAbsent(labels, l -> series(shared(name, l, COUNTER, help, new LongAdder()))))
                .add(count);
    }

    /// Records a time.
    ///
    /// @param name its name without prefix, ending in `_seconds`
    /// @param help what it is
    /// @param labels see [#labels]
    /// @param nanos the time
    public void time(String name, String help, String labels, long nanos) {
        histogram(name, help, labels, SECONDS).record(nanos / 1e9);
    }

    /// {@return times of single tokens, for many records without a look-up each}
    ///
    /// @param name its name without prefix, ending in `_seconds`
    /// @param help what it is
    /// @param labels see [#labels]
    public Histogram tokenTimes(String name, String help, String labels) {
        return histogram(name, help, labels, TOKEN_SECONDS);
    }

    /// Records a number of tokens.
    ///
    /// @param name its name without prefix
    /// @param help what it is
    /// @param labels see [#labels]
    /// @param count how many
    public void tokens(String name, String help, String labels, long count) {
        histogram(name, help, labels, TOKENS).record(count);
    }

    private Histogram histogram(String name, String help, String labels, double... bounds) {
        return (Histogram) family(name, HISTOGRAM, help).series().computeIfAbsent(labels, l -> {
            LongAdder[] buckets = new LongAdder[bounds.length + 1];
            Arrays.setAll(buckets, i -> new LongAdder());
            return series(shared(name, l, HISTOGRAM, help, bounds, buckets, new DoubleAdder()));
        });
    }

    /// Has a gauge read when it is asked for.
    ///
    /// @param name its name without prefix
    /// @param help what it is
    /// @param labels see [#labels]
    /// @param value reads it
    public void gauge(String name, String help, String labels, Supplier<Number> value) {
        family(name, "gauge", help).series().put(labels, value);
    }

    /// Has labels told that change, by a gauge whose value is always 1.
    ///
    /// @param name its name without prefix, ending in `_info`
    /// @param help what it is
    /// @param labels what the series is about, see [#labels]
    /// @param more reads further labels; empty while there are none, and then nothing is told
    public void info(String name, String help, String labels, Supplier<String> more) {
        family(name, "gauge", help).series().put(labels, new Info(more));
    }

    private record Info(Supplier<String> labels) {}

    /// Has a counter read when it is asked for.
    ///
    /// @param name its name without prefix, ending in `_total`
    /// @param help what it counts
    /// @param labels see [#labels]
    /// @param value reads it
    public void counter(String name, String help, String labels, Supplier<Number> value) {
        family(name, COUNTER, help).series().put(labels, value);
    }

    /// {@return labels as text: `name="value",…`}
    ///
    /// @param pairs names and values in turn
    public static String labels(String... pairs) {
        Map<String, String> labels = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            labels.put(pairs[i], pairs[i + 1]);
        }
        return Labels.text(labels);
    }

    @Override
    public List<MetricFamily> read() {
        counts.forEach((key, shared) -> {
            String[] parts = key.split("\n", 2);
            family(parts[0], (String) shared[0], (String) shared[1])
                    .series()
                    .computeIfAbsent(parts[1], l -> series(shared));
        });
        List<MetricFamily> all = new ArrayList<>();
        families.forEach((name, family) -> {
            List<MetricSeries> read = new ArrayList<>();
            family.series().forEach((labels, series) -> read(labels, series).ifPresent(read::add));
            MetricFamily.Kind kind = MetricFamily.Kind.valueOf(family.kind().toUpperCase(Locale.ROOT));
            all.add(new MetricFamily(prefix + name, kind, family.help(), read));
        });
        return all;
    }

    private static Optional<MetricSeries> read(String text, Object series) {
        Map<String, String> labels = Labels.map(text);
        return switch (series) {
            case Histogram histogram -> Optional.of(histogram.read(labels));
            case LongAdder counter -> Optional.of(new MetricSeries(labels, counter.sum(), List.of()));
            case Info info -> {
                Map<String, String> more = Labels.map(info.labels().get());
                labels.putAll(more);
                yield more.isEmpty() ? Optional.empty() : Optional.of(new MetricSeries(labels, 1, List.of()));
            }
            case Supplier<?> gauge ->
                Optional.of(new MetricSeries(labels, ((Number) gauge.get()).doubleValue(), List.of()));
            default -> throw new IllegalStateException("no such series: " + series.getClass());
        };
    }
}
