package dev.tenon.platform.bench.report;

import dev.tenon.platform.bench.report.ReportComparison.Row;
import dev.tenon.platform.bench.report.ReportComparison.Verdict;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// Reports and comparisons as Markdown, reports as comma-separated values.
public final class TextReports {
    /// Heads of a comparison's columns.
    static final List<String> COMPARED =
            List.of("program", "case", "backend", "metric", "before", "after", "unit", "change %", "95 % from", "to");

    /// What the short names of cases and columns mean.
    static final String NAMES =
            "ppN: a prompt of N tokens; tgN: N generated tokens; x N: N sequences at once; @ dN: after"
                    + " N tokens; mix: prompts and generated tokens together. ±: half of the 95 % interval of the mean. The limit"
                    + " is what reading from memory allows, measured between the repetitions: where a machine is shared, more"
                    + " than 100 % is possible.";

    private TextReports() {}

    /// {@return a report as Markdown}
    static String markdown(Report report) {
        StringBuilder text = new StringBuilder("# Tenon benchmark report, " + report.created() + "\n\n");
        table(
                text,
                List.of("machine", ""),
                report.machine().entrySet().stream()
                        .map(e -> List.of(e.getKey(), e.getValue()))
                        .toList());
        text.append("\n`tenon bench suite ")
                .append(String.join(" ", report.options()))
                .append("`\n\n")
                .append(NAMES)
                .append('\n');
        for (ProgramResult program : report.programs()) {
            text.append(String.format(
                    Locale.ROOT,
                    "%n## %s: %s, %.0f s%n%n",
                    program.name(),
                    program.status().label(),
                    program.seconds()));
            if (!program.reason().isEmpty()) {
                text.append(program.reason()).append("\n\n");
            }
            if (!program.measurements().isEmpty()) {
                table(
                        text,
                        List.of("case", "backend", "metric", "mean ± 95 %", "unit", "n", "% of limit"),
                        program.measurements().stream()
                                .map(m -> List.of(
                                        m.testCase(),
                                        m.backend(),
                                        m.metric(),
                                        Numbers.withInterval(m),
                                        m.unit().label(),
                                        Integer.toString(m.samples().length),
                                        m.ceiling() > 0
                                                ? String.format(Locale.ROOT, "%.1f", 100 * m.shareOfCeiling())
                                                : ""))
                                .toList());
            }
            for (ReportTable table : program.tables()) {
                text.append("\n### ").append(table.title()).append("\n\n");
                table(text, table.columns(), table.rows());
            }
            for (ProgramResult.Skipped skipped : program.skipped()) {
                text.append("\nSkipped: ")
                        .append(skipped.testCase())
                        .append(": ")
                        .append(skipped.reason())
                        .append('\n');
            }
        }
        return text.toString();
    }

    private static void table(StringBuilder text, List<String> columns, List<List<String>> rows) {
        text.append("| ").append(String.join(" | ", columns)).append(" |\n");
        text.append("| --- ".repeat(columns.size())).append("|\n");
        for (List<String> row : rows) {
            text.append(row.stream()
                            .map(cell -> cell.replace("|", "\\|").replace("\n", " "))
                            .collect(Collectors.joining(" | ", "| ", " |")))
                    .append('\n');
        }
    }

    /// {@return a report's measurements, a line each}
    static String csv(Report report) {
        StringBuilder text =
                new StringBuilder("program,case,backend,metric,unit,mean,low95,high95,n,axis,series,at,ceiling\n");
        for (ProgramResult program : report.programs()) {
            for (Measurement m : program.measurements()) {
                text.append(quoted(
                                program.name(),
                                m.testCase(),
                                m.backend(),
                                m.metric(),
                                m.unit().label()))
                        .append(',')
                        .append(m.mean())
                        .append(',')
                        .append(finite(m.interval().low()))
                        .append(',')
                        .append(finite(m.interval().high()))
                        .append(',')
                        .append(m.samples().length)
                        .append(',')
                        .append(quoted(m.place().axis(), m.place().series()))
                        .append(',')
                        .append(m.hasPlace() ? m.place().at() : "")
                        .append(',')
                        .append(finite(m.ceiling()))
                        .append('\n');
            }
        }
        return text.toString();
    }

    private static String finite(double value) {
        return Double.isFinite(value) ? Double.toString(value) : "";
    }

    private static String quoted(String... cells) {
        return List.of(cells).stream()
                .map(cell -> "\"" + cell.replace("\"", "\"\"") + "\"")
                .collect(Collectors.joining(","));
    }

    /// {@return a comparison as Markdown}
    ///
    /// @param all whether changes within the noise are listed, too
    public static String markdown(ReportComparison comparison, boolean all) {
        StringBuilder text = new StringBuilder(summary(comparison)).append('\n');
        for (Verdict verdict : Verdict.values()) {
            List<Row> rows = comparison.rows(verdict);
            boolean shown = all || verdict == Verdict.WORSE || verdict == Verdict.BETTER;
            if (shown && !rows.isEmpty()) {
                text.append("\n## ").append(heading(verdict)).append("\n\n");
                table(text, COMPARED, rows.stream().map(TextReports::cells).toList());
            }
        }
        return text.toString();
    }

    /// {@return what a comparison comes to, in a paragraph}
    static String summary(ReportComparison comparison) {
        int worse = comparison.rows(Verdict.WORSE).size();
        int better = comparison.rows(Verdict.BETTER).size();
        return String.format(
                Locale.ROOT,
                "%d results in both reports: %d worse, %d better, by Welch's 95 %% interval of each change; about %.0f"
                        + " would be either by chance. %d results are in the first report only, %d in the second only.%s",
                comparison.rows().size(),
                worse,
                better,
                comparison.expectedByChance(),
                comparison.onlyBefore(),
                comparison.onlyAfter(),
                comparison.otherwise().isEmpty()
                        ? ""
                        : " What was measured on differs: " + String.join("; ", comparison.otherwise()) + ".");
    }

    /// {@return the heading of a group}
    static String heading(Verdict verdict) {
        return switch (verdict) {
            case WORSE -> "Worse";
            case BETTER -> "Better";
            case WITHIN_NOISE -> "Within the noise";
            case UNKNOWN -> "Single samples, without interval";
        };
    }

    /// {@return the cells of a row}
    static List<String> cells(Row row) {
        return List.of(
                row.program(),
                row.before().testCase(),
                row.before().backend(),
                row.before().metric(),
                Numbers.plain(row.before().mean()),
                Numbers.plain(row.after().mean()),
                row.after().unit().label(),
                percent(row.quotient().estimate()),
                percent(row.quotient().low()),
                percent(row.quotient().high()));
    }

    private static String percent(double quotient) {
        return Double.isFinite(quotient) ? String.format(Locale.ROOT, "%+.1f", 100 * (quotient - 1)) : "";
    }
}
