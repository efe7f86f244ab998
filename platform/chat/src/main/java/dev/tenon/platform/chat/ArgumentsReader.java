package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/// Reads the arguments of a call whose name stands before them.
final class ArgumentsReader extends CallReader {
    private final LiteralReader value;
    private final List<String> marks;
    private final boolean members;
    private int next;

    /// Reads an object in JSON; what stands for one is understood: a string that holds it, `null`, or nothing.
    ///
    /// @param name the tool
    /// @param marks what may stand where there are no arguments
    ArgumentsReader(String name, List<String> marks) {
        super(name);
        this.value = new LiteralReader(Literals.JSON);
        this.marks = marks;
        this.members = false;
    }

    /// Reads members in a notation, from after what begins them.
    ///
    /// @param name the tool
    /// @param notation how they are written
    ArgumentsReader(String name, Literals notation) {
        super(name);
        this.value = LiteralReader.inside(notation);
        this.marks = List.of();
        this.members = true;
    }

    /// {@return an object that stands where one is wanted; null if the value is neither one nor stands for one}
    ///
    /// @param json JSON
    static String object(String json) {
        if (json.startsWith("{")) {
            return json;
        }
        JsonNode value = Json.parse(json);
        if (value == null || value.isNull()) {
            return value == null ? null : "{}";
        }
        String inner = value.isTextual() ? LiteralReader.json(value.asText()) : null;
        return inner != null && inner.startsWith("{") ? inner : null;
    }

    @Override
    int take(StringBuilder pending, boolean last) {
        if (value.json().isEmpty() && !members) {
            String text = pending.toString().strip();
            if (text.isEmpty() ? last : marks.stream().anyMatch(text::startsWith)) {
                arguments.append("{}");
                begin();
                end();
                return 0;
            }
            if (!last && marks.stream().anyMatch(mark -> mark.startsWith(text))) {
                return 0;
            }
        }
        int taken = value.take(pending, last);
        boolean object = !value.json().isEmpty() && value.json().charAt(0) == '{';
        if (object) {
            begin();
            arguments.append(value.json(), next, value.json().length());
            next = value.json().length();
        }
        if (value.failed()) {
            fail();
        } else if (value.ended()) {
            String read = object ? "" : object(value.json().toString());
            if (read == null) {
                fail();
            } else {
                arguments.append(read);
                begin();
                end();
            }
        }
        return taken;
    }
}
