package dev.tenon.platform.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.ProgramResult.Skipped;
import dev.tenon.platform.bench.report.ProgramResult.Status;
import dev.tenon.platform.bench.report.ReportComparison.Verdict;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;

class ReportTests {
    @TempDir
    Path folder;

    private static Measurement speed(String testCase, String backend, double... samples) {
        return new Measurement(
                testCase, backend, "decode", Unit.TOKENS_PER_SECOND, samples, Place.NONE, 2 * samples[0]);
    }

    /// One of everything that is drawn.
    private static Report report() {
        double[] tokens = new double[200];
        Arrays.setAll(tokens, i -> 30 + Math.sin(i) + (i == 7 ? 50 : 0));
        List<Measurement> all = new ArrayList<>(List.of(
                speed("a <b> & \"c\"", "cpu", 30, 31, 32),
                speed("a <b> & \"c\"", "gpu", 300, 310, 305),
                speed("other", "cpu", 3),
                new Measurement("tokens", "cpu", "token", Unit.MILLIS, tokens, Place.NONE, Double.NaN)));
        for (int n : new int[] {1, 16, 256}) {
            all.add(new Measurement(
                    n + " sequences",
                    "cpu",
                    "batch",
                    Unit.TOKENS_PER_SECOND,
                    new double[] {10 * n, 11 * n, 12 * n},
                    new Place("sequences", "cpu", n),
                    Double.NaN));
            all.add(new Measurement(
                    "Q8_0 " + n,
                    "cpu",
                    "matrix × vector",
                    Unit.GIGAFLOPS,
                    new double[] {n, n},
                    new Place("flop/byte", "Q8_0", 1.9),
                    20));
        }
        ReportTable table = new ReportTable("kernels", List.of("role", "µs"), List.of(List.of("ffn_down", "12.5")));
        ProgramResult decode = new ProgramResult(
                "decode",
                Status.PASSED,
                "2 cases skipped",
                12,
                all,
                List.of(table),
                List.of(new Skipped("8B", "needs 8 GiB")));
        ProgramResult failed = new ProgramResult(
                "batch", Status.FAILED, "3 <backend> [BACKEND-001]", 1, List.of(), List.of(), List.of());
        return new Report(
                "2026-01-02T03:04:05Z", List.of("--all"), Map.of("processor", "x <y>"), List.of(decode, failed));
    }

    @Test
    void jsonIsReadBackAsWritten() {
        Path file = folder.resolve("report.json");
        ReportJson.write(file, ReportJson.text(report()));
        Report read = ReportJson.report(file);
        assertEquals(ReportJson.text(report()), ReportJson.text(read));
        assertEquals(
                report().programs().getFirst().tables(),
                read.programs().getFirst().tables());
        assertEquals(
                report().programs().getFirst().skipped(),
                read.programs().getFirst().skipped());
        assertFalse(read.isWhole());
    }

    @Test
    void anotherFileIsRefusedAndNamed() throws IOException {
        Path file = folder.resolve("x.json");
        for (String text : List.of("", "[]", "{", "{\"format\": 1}", "{\"format\": 99}", "\"x\"")) {
            Files.writeString(file, text);
            TenonException e = assertThrows(TenonException.class, () -> ReportJson.report(file), text);
            assertEquals(ErrorCode.USAGE, e.code());
            assertTrue(e.getMessage().contains("x.json") && e.getMessage().length() < 250, e.getMessage());
        }
        assertEquals(
                ErrorCode.IO,
                assertThrows(TenonException.class, () -> ReportJson.report(folder.resolve("missing")))
                        .code());
    }

    /// The page needs nothing from elsewhere, and its drawings are well-formed.
    @Test
    void pageStandsAlone() throws Exception {
        String html = HtmlReport.of(report());
        for (String word : List.of("http:", "https:", "<script", "src=", "url(", "@import", "NaN", "Infinity")) {
            assertFalse(html.contains(word), word);
        }
        assertFalse(html.contains("<b> &amp;") || html.contains("<backend>"), "cells are escaped");
        Matcher svg = Pattern.compile("<svg.*?</svg>", Pattern.DOTALL).matcher(html);
        int drawings = 0;
        while (svg.find()) {
            DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new InputSource(new StringReader(svg.group())));
            drawings++;
        }
        assertEquals(4, drawings, "a roofline, lines, bars of decode, a histogram");
    }

    @Test
    void textsHoldEachMeasurement() {
        String csv = TextReports.csv(report());
        assertEquals(
                1 + report().programs().getFirst().measurements().size(),
                csv.lines().count());
        String markdown = TextReports.markdown(report());
        assertTrue(markdown.contains("31.00 ± 2.48") && markdown.contains("Skipped: 8B: needs 8 GiB"), markdown);
    }

    private static Report of(Measurement... measurements) {
        return new Report(
                "",
                List.of(),
                Map.of(),
                List.of(new ProgramResult("p", Status.PASSED, "", 1, List.of(measurements), List.of(), List.of())));
    }

    /// A mean that is 3 % lower is no regression where repetitions differ by 10 %, and one where
    /// they do not.
    @Test
    void regressionsAreThoseOutsideTheInterval() {
        Report before = of(
                speed("quiet", "cpu", 100, 100.5, 99.5, 100.2, 99.8),
                speed("noisy", "cpu", 90, 110, 100, 95, 105),
                speed("faster", "cpu", 100, 101, 99),
                speed("single", "cpu", 100),
                speed("gone", "cpu", 1));
        Report after = of(
                speed("quiet", "cpu", 97, 97.5, 96.5, 97.2, 96.8),
                speed("noisy", "cpu", 87, 107, 97, 92, 102),
                speed("faster", "cpu", 110, 111, 109),
                speed("single", "cpu", 50),
                speed("new", "cpu", 1));
        ReportComparison comparison = ReportComparison.of(before, after);
        assertEquals(List.of("quiet"), cases(comparison, Verdict.WORSE));
        assertEquals(List.of("noisy"), cases(comparison, Verdict.WITHIN_NOISE));
        assertEquals(List.of("faster"), cases(comparison, Verdict.BETTER));
        assertEquals(List.of("single"), cases(comparison, Verdict.UNKNOWN));
        assertEquals(1, comparison.onlyBefore());
        assertEquals(1, comparison.onlyAfter());
        assertTrue(TextReports.markdown(comparison, false).contains("1 worse, 1 better"));
        assertTrue(HtmlReport.of(comparison, before, after).contains("<h2>Worse (1)</h2>"));
    }

    @Test
    void lessIsBetterForTimes() {
        Measurement slow = new Measurement("x", "cpu", "load", Unit.MILLIS, new double[] {10, 10.1}, Place.NONE, 0);
        Measurement fast = new Measurement("x", "cpu", "load", Unit.MILLIS, new double[] {5, 5.1}, Place.NONE, 0);
        assertEquals(
                1, ReportComparison.of(of(slow), of(fast)).rows(Verdict.BETTER).size());
        assertEquals(
                1, ReportComparison.of(of(fast), of(slow)).rows(Verdict.WORSE).size());
    }

    @Test
    void anotherMachineIsTold() {
        Report here =
                of(speed("x", "cpu", 1, 2)).withMachine(Map.of("processor", "P", "load average at the start", "1"));
        Report later =
                of(speed("x", "cpu", 1, 2)).withMachine(Map.of("processor", "P", "load average at the start", "2"));
        Report there = of(speed("x", "cpu", 1, 2)).withMachine(Map.of("processor", "Q"));
        assertEquals(List.of(), ReportComparison.of(here, later).otherwise());
        String text = TextReports.markdown(ReportComparison.of(here, there), false);
        assertTrue(text.contains("What was measured on differs: processor P, then Q."), text);
    }

    @Test
    void casesThatDifferInNumbersGrow() {
        assertEquals(
                List.of("1b Q6_K tg8", "1b Q6_K pp32", "1b Q6_K pp128", "1b Q6_K pp512", "other"),
                CaseOrder.of(List.of(
                        "1b Q6_K tg8", "1b Q6_K pp128", "1b Q6_K pp512", "other", "1b Q6_K pp32", "1b Q6_K pp128")));
    }

    /// Words that begin with a number are no number.
    @Test
    void numbersStandToTheRight() {
        String html = HtmlReport.of(report());
        assertTrue(html.contains("<td class=\"n\">31.00 ± 2.48</td>"), html);
        assertTrue(html.contains("<td class=\"n\">12 s</td>"), html);
        assertTrue(html.contains("<td>2 cases skipped</td>"), html);
    }

    /// Of a hundred measurements without a change, about as many are outside as are expected.
    @Test
    void chanceIsStated() {
        java.util.Random random = new java.util.Random(3);
        Measurement[] a = new Measurement[400];
        Measurement[] b = new Measurement[400];
        for (int i = 0; i < a.length; i++) {
            a[i] = speed(
                    "c" + i,
                    "cpu",
                    random.doubles(5).map(u -> 100 + random.nextGaussian()).toArray());
            b[i] = speed(
                    "c" + i,
                    "cpu",
                    random.doubles(5).map(u -> 100 + random.nextGaussian()).toArray());
        }
        ReportComparison comparison = ReportComparison.of(of(a), of(b));
        assertEquals(20, comparison.expectedByChance());
        int outside = comparison.rows(Verdict.BETTER).size()
                + comparison.rows(Verdict.WORSE).size();
        assertEquals(20, outside, 12);
    }

    private static List<String> cases(ReportComparison comparison, Verdict verdict) {
        return comparison.rows(verdict).stream()
                .map(row -> row.after().testCase())
                .toList();
    }
}
