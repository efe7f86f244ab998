package dev.tenon.platform.contracts.itest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.platform.contracts.itest.ContractRun.Case;
import dev.tenon.platform.contracts.itest.ContractRun.Outcome;
import dev.tenon.platform.core.files.OutputFile;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/// What came out of all contracts, as text for people and as JUnit XML for build servers.
///
/// @param title what was tested, line by line
/// @param runs the contracts, in the order in which they ran
public record Report(List<String> title, List<ContractRun> runs) {
    /// Characters that XML 1.0 has no way to write.
    private static final String NOT_XML = "[^\\t\\n\\r\\u0020-\\uD7FF\\uE000-\\uFFFD]";

    /// {@return whether something passed and nothing failed}
    public boolean passed() {
        return count(Outcome.FAILED) == 0 && count(Outcome.PASSED) > 0;
    }

    private int count(Outcome outcome) {
        return runs.stream().mapToInt(run -> run.count(outcome)).sum();
    }

    /// {@return the report for people}
    public String text() {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        title.forEach(out::println);
        for (ContractRun run : runs) {
            out.printf("%n%s%n%6s %6s %7s%n", run.what(), "passed", "failed", "skipped");
            tallies(run)
                    .forEach((method, tally) -> out.printf("%6d %6d %7d  %s%n", tally[0], tally[1], tally[2], method));
            notPassed(run, Outcome.SKIPPED, out);
            notPassed(run, Outcome.FAILED, out);
        }
        out.printf(
                Locale.ROOT,
                "%n%d passed, %d failed, %d skipped in %.1f s%n",
                count(Outcome.PASSED),
                count(Outcome.FAILED),
                count(Outcome.SKIPPED),
                runs.stream().mapToDouble(ContractRun::seconds).sum());
        return text.toString();
    }

    private static void notPassed(ContractRun run, Outcome outcome, PrintWriter out) {
        for (Case each : run.cases()) {
            if (each.outcome() == outcome) {
                out.printf("%n%s %s%n    %s%n", outcome, each.title(), each.reason());
            }
        }
    }

    /// Writes the report to a file, which it replaces: JUnit XML if its name ends in `.xml`, counts as JSON if in
    /// `.json`,
    /// else text.
    ///
    /// @param file the file
    /// @throws dev.tenon.api.error.TenonException (`IO-001`) if it cannot be written
    public void write(Path file) {
        String name = file.getFileName().toString();
        OutputFile.write(file, true, name.endsWith(".xml") ? xml() : name.endsWith(".json") ? json() : text());
    }

    /// Counts by method, so that two runs can be compared, and what did not pass.
    private String json() {
        ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
        ObjectNode report = mapper.createObjectNode();
        title.forEach(report.putArray("title")::add);
        ArrayNode all = report.putArray("runs");
        for (ContractRun run : runs) {
            ObjectNode one = all.addObject();
            one.put("what", run.what()).put("suite", run.suite());
            ObjectNode methods = one.putObject("methods");
            tallies(run).forEach((method, tally) -> {
                ArrayNode counts = methods.putArray(method);
                for (int count : tally) {
                    counts.add(count);
                }
            });
            ObjectNode reasons = one.putObject("notPassed");
            run.cases().stream()
                    .filter(each -> each.outcome() != Outcome.PASSED)
                    .forEach(each -> reasons.put(each.title(), each.outcome() + " " + each.reason()));
        }
        try {
            return mapper.writeValueAsString(report) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree in memory can be written", e);
        }
    }

    private static Map<String, int[]> tallies(ContractRun run) {
        Map<String, int[]> tallies = new TreeMap<>();
        run.cases()
                .forEach(each -> tallies.computeIfAbsent(each.method(), name -> new int[3])[
                        each.outcome().ordinal()]++);
        return tallies;
    }

    private String xml() {
        StringWriter out = new StringWriter();
        try {
            XMLStreamWriter xml = XMLOutputFactory.newInstance().createXMLStreamWriter(out);
            xml.writeStartDocument("UTF-8", "1.0");
            xml.writeStartElement("testsuites");
            for (ContractRun run : runs) {
                suite(xml, run);
            }
            xml.writeEndElement();
            xml.writeEndDocument();
            xml.close();
            return out.toString();
        } catch (XMLStreamException e) {
            throw new IllegalStateException("a text in memory can be written", e);
        }
    }

    private static void suite(XMLStreamWriter xml, ContractRun run) throws XMLStreamException {
        xml.writeStartElement("testsuite");
        xml.writeAttribute("name", plain(run.what()));
        xml.writeAttribute("tests", String.valueOf(run.cases().size()));
        xml.writeAttribute("failures", String.valueOf(run.count(Outcome.FAILED)));
        xml.writeAttribute("errors", "0");
        xml.writeAttribute("skipped", String.valueOf(run.count(Outcome.SKIPPED)));
        xml.writeAttribute("time", seconds(run.seconds()));
        for (Case each : run.cases()) {
            xml.writeStartElement("testcase");
            xml.writeAttribute("classname", plain(run.what()));
            xml.writeAttribute("name", plain(each.title()));
            xml.writeAttribute("time", seconds(each.seconds()));
            if (each.outcome() != Outcome.PASSED) {
                xml.writeStartElement(each.outcome() == Outcome.FAILED ? "failure" : "skipped");
                xml.writeAttribute("message", plain(each.reason()));
                xml.writeEndElement();
            }
            xml.writeEndElement();
        }
        xml.writeEndElement();
    }

    private static String seconds(double seconds) {
        return String.format(Locale.ROOT, "%.3f", seconds);
    }

    private static String plain(String text) {
        return text.replaceAll(NOT_XML, "?");
    }
}
