package dev.tenon.platform.bench.output;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.platform.bench.measure.BenchProfile;
import dev.tenon.platform.bench.measure.Statistics;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/// A Markdown table with llama-bench's columns, followed by what else was measured.
public final class MarkdownOutput implements BenchOutput {
    private record Column(String name, int width, boolean left, Function<BenchResult, String> value) {}

    private record Profile(String title, BenchProfile kernels) {}

    private final List<Column> columns = new ArrayList<>();
    private final String version;
    private final Map<String, String> footer = new LinkedHashMap<>();
    /// The fastest of several settings, by model, backend and test.
    private final Map<String, BenchResult> fastest = new LinkedHashMap<>();

    private final List<Profile> profiles = new ArrayList<>();

    /// Creates a table that shows the columns that these configurations need.
    ///
    /// @param configs all configurations that will run
    /// @param version version of the program
    /// @param compared whether another program runs too
    public MarkdownOutput(List<BenchConfig> configs, String version, boolean compared) {
        this.version = version;
        column("model", 30, true, r -> r.model().type());
        column("size", 10, false, r -> size(r.model().sizeBytes()));
        column("params", 10, false, r -> parameters(r.model().parameters()));
        column("backend", 10, true, r -> r.model().backend());
        column("threads", 7, false, r -> Integer.toString(BenchFields.threads(r.config())));
        if (configs.stream().anyMatch(c -> c.nBatch() != BenchConfig.DEFAULT_BATCH)) {
            column("n_batch", 7, false, r -> Integer.toString(r.config().nBatch()));
        }
        if (configs.stream().anyMatch(c -> c.nUbatch() != BenchConfig.DEFAULT_UBATCH)) {
            column("n_ubatch", 8, false, r -> Integer.toString(r.config().nUbatch()));
        }
        if (configs.stream().anyMatch(c -> c.typeK() != KvType.F16)) {
            column("type_k", 6, false, r -> r.config().typeK().name().toLowerCase(Locale.ROOT));
        }
        if (configs.stream().anyMatch(c -> c.typeV() != KvType.F16)) {
            column("type_v", 6, false, r -> r.config().typeV().name().toLowerCase(Locale.ROOT));
        }
        if (configs.stream().anyMatch(c -> !c.device().isEmpty())) {
            column("dev", 12, true, r -> r.config().device());
        }
        int settings =
                configs.stream().mapToInt(c -> c.settings().length()).max().orElse(0);
        if (settings > 0) {
            column("settings", settings, true, r -> r.config().settings());
        }
        column("test", 15, false, r -> r.test().name());
        column(
                "t/s",
                20,
                false,
                r -> String.format(Locale.ROOT, "%.2f ± %.2f", r.meanPerSecond(), r.deviationPerSecond()));
        if (compared) {
            column("llama.cpp t/s", 20, false, r -> spread(r.comparison() == null ? null : theirs(r)));
            column(
                    "fa",
                    2,
                    false,
                    r -> r.comparison() == null ? "" : r.comparison().flashAttention() ? "1" : "0");
            column("ratio", 12, false, r -> spread(r.comparison() == null ? null : ratios(r)));
        }
    }

    private static double[] theirs(BenchResult result) {
        return result.comparison().samplesPerSecond();
    }

    private static double[] ratios(BenchResult result) {
        return result.comparison().ratios(result.samplesPerSecond());
    }

    private static String spread(double[] samples) {
        return samples == null
                ? "-"
                : String.format(Locale.ROOT, "%.2f ± %.2f", Statistics.mean(samples), Statistics.deviation(samples));
    }

    private void column(String name, int width, boolean left, Function<BenchResult, String> value) {
        columns.add(new Column(name, width, left, value));
    }

    @Override
    public void begin(PrintWriter out) {
        StringBuilder head = new StringBuilder("|");
        StringBuilder rule = new StringBuilder("|");
        for (Column column : columns) {
            head.append(' ').append(pad(column, column.name())).append(" |");
            rule.append(' ')
                    .append("-".repeat(column.width() - (column.left() ? 0 : 1)))
                    .append(column.left() ? " |" : ": |");
        }
        out.println(head);
        out.println(rule);
        out.flush();
    }

    @Override
    public void result(PrintWriter out, BenchResult result) {
        if (!result.config().swept().isEmpty()) {
            String test = result.model().type() + ", " + result.model().backend() + ", "
                    + result.test().name();
            fastest.merge(test, result, (a, b) -> a.meanPerSecond() >= b.meanPerSecond() ? a : b);
        }
        StringBuilder row = new StringBuilder("|");
        for (Column column : columns) {
            row.append(' ').append(pad(column, column.value().apply(result))).append(" |");
        }
        out.println(row);
        out.flush();
        BenchResult.ModelFacts model = result.model();
        footer.put(
                result.config() + " load",
                String.format(
                        Locale.ROOT,
                        "load: %s on %s in %.1f ms",
                        model.type(),
                        model.device(),
                        model.loadNanos() / 1e6));
        if (!result.config().adapters().isEmpty()) {
            footer.put("lora", "lora: " + result.config().lora() + "; counted among the weights");
        }
        String key = result.config() + result.test().name();
        if (result.decodes()) {
            footer.put(key, decode(result));
        }
        if (result.comparison() != null) {
            footer.put(
                    "llama.cpp",
                    "llama.cpp: build " + result.comparison().build()
                            + ", run in turns with ours; the better of flash attention on and off (quantized values:"
                            + " on); ratio: ours over theirs,"
                            + " round by round");
        }
        if (result.profile() != null) {
            profiles.add(new Profile(
                    result.test().name() + " (" + model.type() + ", " + model.backend() + ", "
                            + BenchFields.threads(result.config()) + " threads)",
                    result.profile()));
        }
    }

    private static String decode(BenchResult r) {
        double mib = 1 << 20;
        String text = String.format(
                Locale.ROOT,
                "%s: %.2f MiB a token (weights %.2f MiB, KV cache %.3f MiB, activations %.3f MiB): %.2f GB/s",
                r.test().name(),
                r.bytesPerToken() / mib,
                r.weightBytes() / mib,
                r.kvBytes() / mib,
                r.model().activationBytesPerToken() / mib,
                r.bytesPerSecond() / 1e9);
        if (r.bandwidth() == 0) {
            return text;
        }
        text += String.format(
                Locale.ROOT,
                ", %.1f %% of %.2f GB/s that %d threads read; at most %.2f t/s",
                100 * r.bytesPerSecond() / r.bandwidth(),
                r.bandwidth() / 1e9,
                BenchFields.threads(r.config()),
                r.bandwidth() / r.bytesPerToken());
        if (r.tokensTimed()) {
            text += String.format(
                    Locale.ROOT,
                    "; median token %.2f ms: %.1f %%",
                    r.medianTokenNanos() / 1e6,
                    100 * r.medianBytesPerSecond() / r.bandwidth());
        }
        return text;
    }

    @Override
    public void end(PrintWriter out) {
        out.println();
        fastest.forEach((test, best) -> out.println(test + ": fastest with "
                + best.config().settings() + String.format(Locale.ROOT, ", %.2f t/s", best.meanPerSecond())));
        footer.values().forEach(out::println);
        if (footer.values().stream().anyMatch(line -> line.contains(" MiB a token "))) {
            out.println("bytes a token are counted, not measured: weights once a step, keys and values of all positions"
                    + " so far, activations written once and read once");
        }
        out.println("build: " + version);
        profiles.forEach(p -> p.kernels().print(out, p.title()));
    }

    private static String pad(Column column, String text) {
        return String.format("%" + (column.left() ? "-" : "") + column.width() + "s", text);
    }

    private static String size(long bytes) {
        return bytes < 1L << 30
                ? String.format(Locale.ROOT, "%.2f MiB", bytes / (double) (1 << 20))
                : String.format(Locale.ROOT, "%.2f GiB", bytes / (double) (1L << 30));
    }

    private static String parameters(long n) {
        return n < 1_000_000_000
                ? String.format(Locale.ROOT, "%.2f M", n / 1e6)
                : String.format(Locale.ROOT, "%.2f B", n / 1e9);
    }
}
