package dev.tenon.platform.bench.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.report.Measurement.Place;
import dev.tenon.platform.bench.report.ProgramResult.Skipped;
import dev.tenon.platform.bench.report.ProgramResult.Status;
import dev.tenon.platform.core.files.OutputFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/// Reads and writes reports, and results of programs, as JSON.
public final class ReportJson {
    /// Raised when a reader of old files would misunderstand new ones.
    private static final int FORMAT = 1;

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    /// Samples are kept to this many significant digits, which is more than any of them is exact.
    private static final int DIGITS = 7;

    private static final int LONGEST_REASON = 60;

    private ReportJson() {}

    /// {@return a report's text}
    public static String text(Report report) {
        ObjectNode root = JSON.createObjectNode();
        root.put("format", FORMAT).put("created", report.created());
        ArrayNode options = root.putArray("options");
        report.options().forEach(options::add);
        ObjectNode machine = root.putObject("machine");
        report.machine().forEach(machine::put);
        ArrayNode programs = root.putArray("programs");
        report.programs().forEach(program -> programs.add(node(program)));
        return string(root);
    }

    /// {@return the text of a program's result}
    public static String text(ProgramResult result) {
        return string(node(result));
    }

    private static String string(JsonNode node) {
        try {
            return JSON.writeValueAsString(node) + "\n";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Writes a text in the place of a file, which is there whole or not at all.
    ///
    /// @throws TenonException (`IO-001`) if it cannot be written
    public static void write(Path file, String text) {
        OutputFile.write(file, true, text);
    }

    private static ObjectNode node(ProgramResult result) {
        ObjectNode node = JSON.createObjectNode();
        node.put("name", result.name())
                .put("status", result.status().label())
                .put("reason", result.reason())
                .put("seconds", result.seconds());
        ArrayNode measurements = node.putArray("measurements");
        for (Measurement m : result.measurements()) {
            ObjectNode entry = measurements.addObject();
            entry.put("case", m.testCase())
                    .put("backend", m.backend())
                    .put("metric", m.metric())
                    .put("unit", m.unit().label());
            if (m.hasPlace()) {
                entry.put("axis", m.place().axis())
                        .put("series", m.place().series())
                        .put("at", rounded(m.place().at()));
            }
            if (!Double.isNaN(m.ceiling())) {
                entry.put("ceiling", rounded(m.ceiling()));
            }
            ArrayNode samples = entry.putArray("samples");
            for (double sample : m.samples()) {
                samples.add(rounded(sample));
            }
        }
        ArrayNode tables = node.putArray("tables");
        for (ReportTable table : result.tables()) {
            ObjectNode entry = tables.addObject();
            entry.put("title", table.title());
            ArrayNode columns = entry.putArray("columns");
            table.columns().forEach(columns::add);
            ArrayNode rows = entry.putArray("rows");
            table.rows().forEach(row -> {
                ArrayNode cells = rows.addArray();
                row.forEach(cells::add);
            });
        }
        ArrayNode skipped = node.putArray("skipped");
        result.skipped()
                .forEach(s -> skipped.addObject().put("case", s.testCase()).put("reason", s.reason()));
        return node;
    }

    private static double rounded(double value) {
        return Double.isFinite(value)
                ? Double.parseDouble(String.format(Locale.ROOT, "%." + (DIGITS - 1) + "e", value))
                : value;
    }

    /// {@return the report in a file}
    ///
    /// @throws TenonException (`IO-001`) if it cannot be read, (`CLI-001`) if it is no report
    public static Report report(Path file) {
        return read(file, root -> {
            if (root.path("format").asInt() != FORMAT) {
                throw new IllegalArgumentException(
                        "format " + root.path("format").asText("none") + ", expected " + FORMAT);
            }
            Map<String, String> machine = new LinkedHashMap<>();
            need(root, "machine")
                    .properties()
                    .forEach(e -> machine.put(e.getKey(), e.getValue().asText()));
            return new Report(
                    need(root, "created").asText(),
                    list(root, "options", JsonNode::asText),
                    machine,
                    list(root, "programs", ReportJson::program));
        });
    }

    /// {@return the result of a program in a file}
    ///
    /// @throws TenonException (`IO-001`) if it cannot be read, (`CLI-001`) if it is none
    public static ProgramResult program(Path file) {
        return read(file, ReportJson::program);
    }

    private static <T> T read(Path file, Function<JsonNode, T> of) {
        try {
            return of.apply(JSON.readTree(Files.readAllBytes(file)));
        } catch (JsonProcessingException | IllegalArgumentException e) {
            String why = e instanceof JsonProcessingException json ? json.getOriginalMessage() : e.getMessage();
            throw new TenonException(
                    ErrorCode.USAGE,
                    file + " is no report of 'tenon bench suite': "
                            + why.substring(0, Math.min(LONGEST_REASON, why.length()))
                            + ". Give the report.json of a report's folder.",
                    e);
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO,
                    file + (Files.exists(file) ? " cannot be read: " + e.getMessage() : " does not exist")
                            + ". Give the report.json of a report's folder.",
                    e);
        }
    }

    private static ProgramResult program(JsonNode node) {
        return new ProgramResult(
                need(node, "name").asText(),
                Status.valueOf(need(node, "status").asText().toUpperCase(Locale.ROOT)),
                need(node, "reason").asText(),
                need(node, "seconds").asDouble(),
                list(
                        node,
                        "measurements",
                        m -> new Measurement(
                                need(m, "case").asText(),
                                need(m, "backend").asText(),
                                need(m, "metric").asText(),
                                Unit.of(need(m, "unit").asText()),
                                list(m, "samples", JsonNode::asDouble).stream()
                                        .mapToDouble(d -> d)
                                        .toArray(),
                                m.has("axis")
                                        ? new Place(
                                                m.get("axis").asText(),
                                                need(m, "series").asText(),
                                                need(m, "at").asDouble())
                                        : Place.NONE,
                                m.path("ceiling").asDouble(Double.NaN))),
                list(
                        node,
                        "tables",
                        t -> new ReportTable(
                                need(t, "title").asText(),
                                list(t, "columns", JsonNode::asText),
                                list(t, "rows", row -> {
                                    List<String> cells = new ArrayList<>();
                                    row.forEach(cell -> cells.add(cell.asText()));
                                    return cells;
                                }))),
                list(
                        node,
                        "skipped",
                        s -> new Skipped(
                                need(s, "case").asText(), need(s, "reason").asText())));
    }

    private static JsonNode need(JsonNode node, String name) {
        if (!node.has(name)) {
            throw new IllegalArgumentException("'" + name + "' is missing");
        }
        return node.get(name);
    }

    private static <T> List<T> list(JsonNode node, String name, Function<JsonNode, T> of) {
        List<T> all = new ArrayList<>();
        need(node, name).forEach(entry -> all.add(of.apply(entry)));
        return all;
    }
}
