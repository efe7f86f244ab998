package dev.tenon.platform.contracts.compare;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// What a comparison found, as a table and as JSON.
///
/// @param model the file's name
/// @param tokens number of tokens
/// @param left label of the one side
/// @param right label of the other
/// @param graphs where the graphs of the two sides part, if they do
/// @param steps all ops that were compared: without fusion, then with it
public record CompareReport(
        String model, int tokens, String left, String right, Optional<String> graphs, List<Comparison.Step> steps) {
    /// Rows of the table in front of the op that diverges.
    private static final int BEFORE = 5;

    /// {@return the first op that diverges, if one does}
    Optional<Comparison.Step> divergence() {
        return steps.stream().filter(Comparison.Step::diverges).findFirst();
    }

    /// {@return whether both sides compute the same within the bounds}
    public boolean same() {
        return graphs.isEmpty() && divergence().isEmpty();
    }

    /// {@return the report for people}
    ///
    /// @param all whether every op gets a line; else the last ones in front of a divergence, or the worst of
    ///     each layer
    public String table(boolean all) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        out.printf("%s, %d tokens%n  a: %s%n  b: %s%n", model, tokens, left, right);
        if (graphs.isPresent()) {
            out.printf("%nThe two graphs differ from %s%n", graphs.get());
            return text.toString();
        }
        out.printf("%n%5s %5s  %-9s %-9s %-9s %s%n", "op", "layer", "error", "inputs", "bound", "what");
        shown(all).forEach(step -> line(out, step));
        out.println();
        Optional<Comparison.Step> found = divergence();
        if (found.isEmpty()) {
            int least = steps.stream().mapToInt(Comparison.Step::tokens).min().orElse(tokens);
            if (least < tokens) {
                out.printf(
                        "Tokens compared to the end: %d. For the next one a router's scores are so close that the"
                                + " sides rightly chose different experts.%n",
                        least);
            }
            out.printf("%d ops compared, none diverges%n", steps.size());
        } else {
            Comparison.Step step = found.get();
            out.printf(
                    Locale.ROOT,
                    "First divergence: %s, op %s (%s)%s: off by %.3g of the row's root mean square, allowed %.3g;"
                            + " its inputs by %.3g.%nWorst at token %d%s, element %d: %s against %s%n",
                    step.layer() < 0 ? "outside of the layers" : "layer " + step.layer(),
                    step.op(),
                    step.value(),
                    step.fused() ? ", fused" : "",
                    step.error(),
                    step.bound(),
                    step.inputs(),
                    step.worst().token(),
                    step.worst().token() == tokens - 1 && tokens > 1 ? " (decode)" : " (prefill)",
                    step.worst().element(),
                    step.worst().a(),
                    step.worst().b());
        }
        return text.toString();
    }

    private List<Comparison.Step> shown(boolean all) {
        if (all || steps.isEmpty()) {
            return steps;
        }
        if (!same()) {
            int last = steps.indexOf(divergence().orElseThrow());
            return steps.subList(Math.max(0, last - BEFORE), last + 1);
        }
        return steps.stream()
                .filter(step -> steps.stream()
                        .filter(other -> other.layer() == step.layer() && other.fused() == step.fused())
                        .allMatch(other -> other.error() <= step.error()))
                .toList();
    }

    private static void line(PrintWriter out, Comparison.Step step) {
        out.printf(
                Locale.ROOT,
                "%5d %5s  %-9.2e %-9.2e %-9.2e %s %s%s%s%n",
                step.index(),
                step.layer() < 0 ? "-" : step.layer(),
                step.error(),
                step.inputs(),
                step.bound(),
                step.op(),
                step.value(),
                step.fused() ? " (fused)" : "",
                step.diverges() ? "  <-- diverges" : "");
    }

    /// {@return the report for programs}
    public String json() {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
            json.writeStartObject();
            json.writeStringField("model", model);
            json.writeNumberField("tokens", tokens);
            json.writeStringField("a", left);
            json.writeStringField("b", right);
            json.writeBooleanField("same", same());
            if (graphs.isPresent()) {
                json.writeStringField("graphs", graphs.get());
            }
            json.writeFieldName("divergence");
            if (divergence().isPresent()) {
                step(json, divergence().get());
            } else {
                json.writeNull();
            }
            json.writeArrayFieldStart("ops");
            for (Comparison.Step step : steps) {
                step(json, step);
            }
            json.writeEndArray();
            json.writeEndObject();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        return text.toString();
    }

    private static void step(JsonGenerator json, Comparison.Step step) throws IOException {
        json.writeStartObject();
        json.writeNumberField("index", step.index());
        json.writeNumberField("layer", step.layer());
        json.writeStringField("op", step.op());
        json.writeStringField("value", step.value());
        json.writeBooleanField("fused", step.fused());
        // Infinity and NaN, which JSON has no numbers for, become strings.
        json.writeNumberField("error", step.error());
        json.writeNumberField("inputs", step.inputs());
        json.writeNumberField("bound", step.bound());
        json.writeBooleanField("diverges", step.diverges());
        json.writeNumberField("tokens", step.tokens());
        json.writeNumberField("token", step.worst().token());
        json.writeNumberField("element", step.worst().element());
        json.writeNumberField("a_value", step.worst().a());
        json.writeNumberField("b_value", step.worst().b());
        json.writeEndObject();
    }
}
