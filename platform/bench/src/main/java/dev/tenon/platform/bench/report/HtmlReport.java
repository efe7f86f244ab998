package dev.tenon.platform.bench.report;

import static dev.tenon.platform.bench.report.svg.Svg.escape;

import dev.tenon.platform.bench.report.svg.BarChart;
import dev.tenon.platform.bench.report.svg.Histogram;
import dev.tenon.platform.bench.report.svg.Plot;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// A report as one page, which needs nothing but itself: no script, no network.
///
/// What is drawn follows from the measurements: distributions as histograms, products as a
/// roofline, series as lines, and the rest as bars. Each number of a diagram is in the table below
/// it, too.
final class HtmlReport {
    private static final String ROOFLINE_AXIS = "flop/byte";
    private static final int MOST_HISTOGRAMS = 6;
    /// The bandwidth of decoding is its speed times what a token takes; few token times are no
    /// distribution.
    private static final List<String> TABLE_ONLY = List.of("bandwidth", "token");

    /// A number, with a unit, an interval or percentiles.
    private static final String NUMBER = "[+-]?[0-9∞][^ ]*( [^ ]{1,3}| [±(].*)?";

    private static final List<String> CARDS = List.of("decode", "prefill");

    private final StringBuilder html = new StringBuilder();

    private HtmlReport() {}

    /// {@return the page of a report}
    static String of(Report report) {
        HtmlReport page = new HtmlReport();
        page.begin("Tenon benchmark report", report.created());
        page.cards(report);
        page.programs(report);
        page.machine(report);
        for (ProgramResult program : report.programs()) {
            page.program(program);
        }
        return page.end();
    }

    /// {@return the page that compares two reports}
    static String of(ReportComparison comparison, Report before, Report after) {
        HtmlReport page = new HtmlReport();
        page.begin("Tenon benchmark comparison", before.created() + " → " + after.created());
        page.comparison(comparison);
        return page.end();
    }

    private void begin(String title, String when) {
        html.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
                .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>")
                .append(title)
                .append("</title>\n<style>\n")
                .append(style())
                .append("</style>\n</head>\n<body>\n<main>\n<h1>")
                .append(title)
                .append(" <small>")
                .append(escape(when))
                .append("</small></h1>\n");
    }

    private String end() {
        return html.append("</main>\n</body>\n</html>\n").toString();
    }

    private static String style() {
        try (InputStream in = HtmlReport.class.getResourceAsStream("report.css")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The speeds of the program `decode`, large, and what the short names mean.
    private void cards(Report report) {
        List<Measurement> shown = report.programs().stream()
                .filter(program -> program.name().equals("decode"))
                .flatMap(program -> program.measurements().stream())
                .filter(m -> CARDS.contains(m.metric()))
                .toList();
        html.append("<div class=\"cards\">\n");
        for (String name : cases(shown)) {
            shown.stream()
                    .filter(m -> m.testCase().equals(name))
                    .forEach(m -> html.append("<div><b>")
                            .append(Numbers.plain(m.mean()))
                            .append("</b> ")
                            .append(m.unit().label())
                            .append("<span>")
                            .append(escape(m.testCase() + ", " + m.backend()))
                            .append(m.ceiling() > 0 ? limit(m) : "")
                            .append("</span></div>\n"));
        }
        html.append("</div>\n<p class=\"legend\">").append(TextReports.NAMES).append("</p>\n");
    }

    private static List<String> cases(List<Measurement> of) {
        return CaseOrder.of(of.stream().map(Measurement::testCase).toList());
    }

    private static String limit(Measurement m) {
        return String.format(Locale.ROOT, "<br>%.0f %% of the memory's limit", 100 * m.shareOfCeiling());
    }

    private void programs(Report report) {
        html.append("<h2>Programs</h2>\n");
        List<List<String>> rows = new ArrayList<>();
        for (ProgramResult program : report.programs()) {
            rows.add(List.of(
                    program.name(),
                    program.status().label(),
                    String.format(Locale.ROOT, "%.0f s", program.seconds()),
                    Integer.toString(program.measurements().size()),
                    program.reason()));
        }
        table(List.of("program", "status", "time", "results", ""), rows, true);
    }

    private void machine(Report report) {
        html.append("<h2>Machine</h2>\n<table class=\"facts\">\n");
        report.machine()
                .forEach((name, value) -> html.append("<tr><th>")
                        .append(escape(name))
                        .append("</th><td>")
                        .append(escape(value))
                        .append("</td></tr>\n"));
        html.append("<tr><th>command</th><td>tenon bench suite ")
                .append(escape(String.join(" ", report.options())))
                .append("</td></tr>\n</table>\n");
    }

    private void program(ProgramResult program) {
        html.append("<section>\n<h2 id=\"")
                .append(escape(program.name()))
                .append("\">")
                .append(escape(program.name()))
                .append("</h2>\n");
        if (!program.status().isDone()) {
            html.append("<p class=\"bad\">")
                    .append(escape(program.status().label() + ": " + program.reason()))
                    .append("</p>\n");
        }
        roofline(program);
        bars(program, lines(program));
        histograms(program);
        for (ReportTable table : program.tables()) {
            html.append("<h3>").append(escape(table.title())).append("</h3>\n");
            table(table.columns(), table.rows(), false);
        }
        details(program);
        html.append("</section>\n");
    }

    private void figure(String title, String content) {
        html.append("<figure>\n<figcaption>")
                .append(escape(title))
                .append("</figcaption>\n")
                .append(content)
                .append("</figure>\n");
    }

    private void roofline(ProgramResult program) {
        Map<String, List<Measurement>> byBackend = program.measurements().stream()
                .filter(m -> m.place().axis().equals(ROOFLINE_AXIS))
                .collect(Collectors.groupingBy(Measurement::backend, LinkedHashMap::new, Collectors.toList()));
        byBackend.forEach((backend, all) -> {
            Map<String, List<Plot.Point>> points = new LinkedHashMap<>();
            double bandwidth = Double.NaN;
            double peak = 0;
            for (Measurement m : all) {
                points.computeIfAbsent(m.metric(), k -> new ArrayList<>())
                        .add(new Plot.Point(m.testCase(), m.place().at(), m.mean(), Double.NaN));
                peak = Math.max(peak, m.mean());
                if (m.ceiling() > 0) {
                    double implied = m.ceiling() / m.place().at();
                    bandwidth = bandwidth > 0 ? Math.min(bandwidth, implied) : implied;
                }
            }
            List<Plot.Series> series = new ArrayList<>();
            points.forEach((name, of) -> series.add(new Plot.Series(name, of)));
            String title = "Roofline of products with matrices on " + backend;
            figure(title, Plot.roofline(title, bandwidth, peak, series));
        });
    }

    /// {@return what it drew}
    private Set<Measurement> lines(ProgramResult program) {
        Set<Measurement> drawn = new HashSet<>();
        Map<List<String>, List<Measurement>> groups = program.measurements().stream()
                .filter(m -> m.hasPlace() && !m.place().axis().equals(ROOFLINE_AXIS) && !m.isDistribution())
                .collect(Collectors.groupingBy(
                        m -> List.of(m.unit().label(), m.place().axis(), group(m)),
                        LinkedHashMap::new,
                        Collectors.toList()));
        groups.forEach((key, all) -> {
            Map<String, List<Plot.Point>> points = new LinkedHashMap<>();
            for (Measurement m : all) {
                points.computeIfAbsent(m.place().series(), k -> new ArrayList<>())
                        .add(new Plot.Point(
                                m.testCase(),
                                m.place().at(),
                                m.mean(),
                                m.interval().half()));
            }
            if (points.values().stream().anyMatch(of -> of.size() > 1)) {
                drawn.addAll(all);
                List<Plot.Series> series = new ArrayList<>();
                points.forEach((name, of) -> series.add(new Plot.Series(name, of)));
                String title = key.get(2) + " by " + key.get(1);
                figure(title, Plot.lines(title, key.get(1), key.get(0), series));
            }
        });
        return drawn;
    }

    /// Bandwidths of reading and copying share a diagram; other metrics have one each.
    private static String group(Measurement m) {
        return m.unit() == Unit.GIGABYTES_PER_SECOND ? "bandwidth" : m.metric();
    }

    private void bars(ProgramResult program, Set<Measurement> drawn) {
        Map<List<String>, List<Measurement>> groups = program.measurements().stream()
                .filter(m -> !m.isDistribution() && !drawn.contains(m) && !TABLE_ONLY.contains(m.metric()))
                .filter(m -> !m.place().axis().equals(ROOFLINE_AXIS))
                .filter(m -> !m.place().axis().equals("MiB") && m.unit() != Unit.ERROR)
                .collect(Collectors.groupingBy(
                        m -> List.of(m.metric(), m.unit().label()), LinkedHashMap::new, Collectors.toList()));
        groups.forEach((key, all) -> {
            List<String> cases = cases(all);
            List<String> names =
                    all.stream().map(Measurement::backend).distinct().toList();
            if (cases.size() < 2 && names.size() < 2) {
                return; // a single number says as much in the table
            }
            List<BarChart.Bar> bars = new ArrayList<>();
            for (String one : cases) {
                all.stream()
                        .filter(m -> m.testCase().equals(one))
                        .forEach(m -> bars.add(new BarChart.Bar(
                                one, m.backend(), m.mean(), m.interval().half(), m.ceiling())));
            }
            String title = key.get(0) + ", " + key.get(1);
            figure(title, BarChart.of(title, key.get(1), bars, names));
        });
    }

    private void histograms(ProgramResult program) {
        List<Measurement> all = program.measurements().stream()
                .filter(Measurement::isDistribution)
                .limit(MOST_HISTOGRAMS)
                .toList();
        if (all.isEmpty()) {
            return;
        }
        html.append("<div class=\"grid\">\n");
        for (Measurement m : all) {
            String title = m.testCase() + ", " + m.backend() + ": " + m.metric() + ", "
                    + m.unit().label();
            figure(title, Histogram.of(title, m.unit().label(), m.samples()));
        }
        html.append("</div>\n");
    }

    private void details(ProgramResult program) {
        html.append("<details><summary>")
                .append(program.measurements().size())
                .append(" results, ")
                .append(program.skipped().size())
                .append(" skipped</summary>\n");
        List<List<String>> rows = new ArrayList<>();
        for (Measurement m : program.measurements()) {
            rows.add(List.of(
                    m.testCase(),
                    m.backend(),
                    m.metric(),
                    Numbers.withInterval(m),
                    m.unit().label(),
                    Integer.toString(m.samples().length),
                    m.ceiling() > 0 ? String.format(Locale.ROOT, "%.1f", 100 * m.shareOfCeiling()) : ""));
        }
        table(List.of("case", "backend", "metric", "mean", "unit", "n", "% of limit"), rows, false);
        if (!program.skipped().isEmpty()) {
            html.append("<h3>Skipped</h3>\n");
            table(
                    List.of("case", "why"),
                    program.skipped().stream()
                            .map(s -> List.of(s.testCase(), s.reason()))
                            .toList(),
                    false);
        }
        html.append("</details>\n");
    }

    private void comparison(ReportComparison comparison) {
        html.append("<p>").append(escape(TextReports.summary(comparison))).append("</p>\n");
        for (ReportComparison.Verdict verdict : List.of(
                ReportComparison.Verdict.WORSE,
                ReportComparison.Verdict.BETTER,
                ReportComparison.Verdict.WITHIN_NOISE,
                ReportComparison.Verdict.UNKNOWN)) {
            List<ReportComparison.Row> rows = comparison.rows(verdict);
            if (!rows.isEmpty()) {
                html.append("<h2>")
                        .append(TextReports.heading(verdict))
                        .append(" (")
                        .append(rows.size())
                        .append(")</h2>\n");
                table(
                        TextReports.COMPARED,
                        rows.stream().map(TextReports::cells).toList(),
                        false);
            }
        }
    }

    private void table(List<String> columns, List<List<String>> rows, boolean links) {
        html.append("<div class=\"scroll\"><table>\n<tr>");
        for (int c = 0; c < columns.size(); c++) {
            html.append(isNumeric(rows, c) ? "<th class=\"n\">" : "<th>")
                    .append(escape(columns.get(c)))
                    .append("</th>");
        }
        html.append("</tr>\n");
        for (List<String> row : rows) {
            html.append("<tr>");
            for (int c = 0; c < row.size(); c++) {
                String cell = escape(row.get(c));
                html.append(isNumeric(rows, c) ? "<td class=\"n\">" : "<td>")
                        .append(
                                links && c == 0
                                        ? "<a href=\"#" + cell + "\">" + cell + "</a>"
                                        : links && c == 1
                                                ? "<span class=\"status " + cell + "\">" + cell + "</span>"
                                                : cell)
                        .append("</td>");
            }
            html.append("</tr>\n");
        }
        html.append("</table></div>\n");
    }

    private static boolean isNumeric(List<List<String>> rows, int column) {
        return rows.stream().anyMatch(row -> row.get(column).matches(NUMBER))
                && rows.stream().allMatch(row -> row.get(column).matches("|-|" + NUMBER));
    }
}
