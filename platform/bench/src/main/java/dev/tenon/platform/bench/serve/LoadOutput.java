package dev.tenon.platform.bench.serve;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/// Prints results as rows of a table, or as lines of JSON.
public final class LoadOutput {
    /// How results are printed.
    public enum Format {
        /// Markdown table.
        md,
        /// One JSON object a line.
        jsonl
    }

    private final Format format;
    private final PrintWriter out;

    public LoadOutput(Format format, PrintWriter out) {
        this.format = format;
        this.out = out;
    }

    /// Begins the output.
    public void begin(String model, int words, int tokens) {
        if (format == Format.md) {
            out.println(model + ": prompts of " + words + " words, " + tokens + " tokens generated; times in ms");
            out.println();
            out.println("| clients | failed | req/s | tok/s | TTFT p50 | p99 | TPOT p50 | p99 | ITL p99 | whole p50 |");
            out.println("| ---: ".repeat(10) + "|");
        }
        out.flush();
    }

    /// Prints a result.
    public void result(LoadResult result) {
        Map<String, Number> row = new LinkedHashMap<>();
        row.put("clients", result.clients());
        row.put("failed", result.requests().size() - result.answered().size());
        row.put("requests_per_second", result.requestsPerSecond());
        row.put("tokens_per_second", result.tokensPerSecond());
        row.put("ttft_ms_p50", result.toFirst(50));
        row.put("ttft_ms_p99", result.toFirst(99));
        row.put("tpot_ms_p50", result.perToken(50));
        row.put("tpot_ms_p99", result.perToken(99));
        row.put("itl_ms_p99", result.gap(99));
        row.put("whole_ms_p50", result.whole(50));
        if (format == Format.md) {
            out.println(row.values().stream().map(LoadOutput::cell).collect(Collectors.joining(" | ", "| ", " |")));
        } else {
            out.println(row.entrySet().stream()
                    .map(e -> "\"" + e.getKey() + "\": " + json(e.getValue()))
                    .collect(Collectors.joining(", ", "{", "}")));
        }
        out.flush();
    }

    private static String cell(Number value) {
        return value instanceof Integer
                ? value.toString()
                : Double.isNaN(value.doubleValue()) ? "–" : String.format(Locale.ROOT, "%.1f", value.doubleValue());
    }

    private static String json(Number value) {
        return Double.isNaN(value.doubleValue())
                ? "null"
                : value instanceof Integer ? value.toString() : String.format(Locale.ROOT, "%.3f", value.doubleValue());
    }
}
