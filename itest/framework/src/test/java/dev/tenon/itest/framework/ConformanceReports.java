package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The reports of `tenon itest --suite` in `docs/reports/itest`, one a backend. None of them has a failure, and each
/// backend was tried with as many ops as the least that is asked for.
///
/// @param byBackend the reports
record ConformanceReports(Map<String, JsonNode> byBackend) {
    private static final Path FOLDER = Path.of("../../docs/reports/itest");
    private static final int LEAST_OPS = 409;

    static ConformanceReports read() throws IOException {
        Map<String, JsonNode> reports = new TreeMap<>();
        try (Stream<Path> files = Files.list(FOLDER)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".json")).toList()) {
                JsonNode report = new ObjectMapper().readTree(file.toFile());
                String backend = file.getFileName().toString().replace(".json", "");
                reports.put(backend, report);
                assertTrue(report.at("/title/0").asText().startsWith("backend " + backend + ": "), file::toString);
                int[] ops = counts(report, "ops");
                assertTrue(ops[0] >= LEAST_OPS, () -> file + ": " + ops[0] + " cases of ops passed");
                for (JsonNode run : report.get("runs")) {
                    assertEquals(0, counts(report, run.get("suite").asText())[1], () -> "failures in " + file);
                }
            }
        }
        assertTrue(reports.containsKey("cpu-vector"), reports.keySet()::toString);
        return new ConformanceReports(reports);
    }

    /// Passed, failed, skipped.
    private static int[] counts(JsonNode report, String suite) {
        int[] counts = new int[3];
        for (JsonNode run : report.get("runs")) {
            if (run.get("suite").asText().equals(suite)) {
                for (JsonNode method : run.get("methods")) {
                    for (int i = 0; i < counts.length; i++) {
                        counts[i] += method.get(i).asInt();
                    }
                }
            }
        }
        return counts;
    }

    int count() {
        return byBackend.size();
    }

    String columns() {
        return String.join(" | ", byBackend.keySet());
    }

    /// {@return what the backends said of themselves}
    String machines() {
        return byBackend.values().stream()
                .map(report -> report.at("/title/0").asText().replaceFirst("^backend ([^:]*): (.*?)\\.?$", "`$1`: $2."))
                .collect(Collectors.joining(" "));
    }

    String rows() {
        Set<String> suites = new TreeSet<>();
        byBackend
                .values()
                .forEach(report -> report.get("runs")
                        .forEach(run -> suites.add(run.get("suite").asText())));
        return suites.stream()
                .map(suite -> byBackend.values().stream()
                        .map(report -> cell(counts(report, suite)))
                        .collect(Collectors.joining(" | ", "| " + suite + " | ", " |")))
                .collect(Collectors.joining("\n"));
    }

    private static String cell(int[] counts) {
        String skipped = counts[2] == 0 ? "" : ", " + counts[2] + " skipped";
        return counts[0] + counts[2] == 0 ? "not run" : counts[0] + " passed" + skipped;
    }
}
