package dev.tenon.platform.bundles.listing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.text.Json;
import dev.tenon.platform.core.control.Origins;
import dev.tenon.platform.core.control.Selection;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The selections for a model, as JSON and as a table.
public final class WhyTable {
    private WhyTable() {}

    /// {@return the selections as JSON}
    ///
    /// @param selections what was selected
    /// @param bundles all bundles; those that do not run are candidates that nobody could take
    public static String json(List<Selection> selections, List<OsgiBundles.Info> bundles) {
        return Json.pretty(json -> {
            json.writeStartObject();
            json.writeArrayFieldStart("choices");
            for (Selection selection : selections) {
                json.writeStartObject();
                json.writeStringField("kind", selection.kind());
                json.writeStringField("subject", selection.subject());
                json.writeArrayFieldStart("candidates");
                for (Selection.Candidate candidate : selection.candidates()) {
                    json.writeStartObject();
                    json.writeStringField("name", candidate.name());
                    json.writeStringField(
                            "bundle", candidate.origin() == null ? "missing" : Origins.of(candidate.origin()));
                    json.writeBooleanField("taken", candidate.taken());
                    json.writeStringField("reason", candidate.reason());
                    json.writeEndObject();
                }
                json.writeEndArray();
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("not_running");
            for (OsgiBundles.Info bundle : bundles) {
                for (String problem : bundle.problems()) {
                    json.writeStartObject();
                    json.writeStringField("bundle", (bundle.name() + " " + bundle.version()).strip());
                    json.writeStringField("reason", problem);
                    json.writeEndObject();
                }
            }
            json.writeEndArray();
            json.writeEndObject();
        });
    }

    /// Prints the selections; those with the same candidates and reasons stand together.
    ///
    /// @param text what [#json] gave
    /// @param out where to
    public static void print(String text, PrintWriter out) {
        JsonNode root;
        try {
            root = new ObjectMapper().readTree(text);
        } catch (JsonProcessingException e) {
            throw new TenonException(ErrorCode.CONTROL, "The running platform gave no table: " + e.getMessage(), e);
        }
        Map<String, List<JsonNode>> alike = new LinkedHashMap<>();
        for (JsonNode choice : root.path("choices")) {
            // A reason may name the weight of its op.
            String key = choice.path("kind").asText()
                    + choice.path("candidates").toString().replaceAll(" for [\\w.]+\\.weight", "");
            alike.computeIfAbsent(key, k -> new ArrayList<>()).add(choice);
        }
        for (List<JsonNode> choices : alike.values()) {
            JsonNode first = choices.getFirst();
            String more = choices.size() > 1 ? " and " + (choices.size() - 1) + " more" : "";
            out.println(
                    first.path("kind").asText() + "  " + first.path("subject").asText() + more);
            for (JsonNode candidate : first.path("candidates")) {
                out.println(String.format(
                                "  %s %-22s %-40s %s",
                                candidate.path("taken").asBoolean() ? "+" : "-",
                                candidate.path("name").asText(),
                                candidate.path("bundle").asText(),
                                candidate.path("reason").asText())
                        .stripTrailing());
            }
        }
        for (JsonNode bundle : root.path("not_running")) {
            out.println("not running  " + bundle.path("bundle").asText());
            out.println("  - " + bundle.path("reason").asText());
        }
    }
}
