package dev.tenon.platform.server.fields;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.server.http.Exchange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// All fields that an end point knows: those that work, those that change nothing, and those that are refused with the
/// reason, unless their value asks for nothing. Any other is unknown. Immutable.
///
/// @param used fields that work
/// @param ignored fields that are accepted and change nothing
/// @param refused fields that are refused, with what to do instead
/// @param notes what is to be known of fields that work, for who reads the list of fields
public record FieldTable(
        Set<String> used, Set<String> ignored, Map<String, String> refused, Map<String, String> notes) {
    private static final Pattern WORD = Pattern.compile("(\\w+)(?:\\(([^)]*)\\))?\\s*");

    /// Copies.
    public FieldTable {
        used = Set.copyOf(used);
        ignored = Set.copyOf(ignored);
        refused = Map.copyOf(refused);
        notes = Map.copyOf(notes);
    }

    /// {@return a table}
    ///
    /// @param used fields that work, separated by blanks; a note follows its field in parentheses: `suffix(no more
    ///     than a line)`
    /// @param ignored fields that change nothing, separated by blanks
    /// @param refused fields that are refused, with what to do instead
    public static FieldTable of(String used, String ignored, Map<String, String> refused) {
        Map<String, String> notes = new TreeMap<>();
        Set<String> names = new TreeSet<>();
        Matcher words = WORD.matcher(used);
        for (int end = 0; end < used.length(); end = words.end()) {
            if (!words.find(end) || words.start() != end || !names.add(words.group(1))) {
                throw new IllegalArgumentException("no field, or one field twice, at: " + used.substring(end));
            }
            if (words.group(2) != null) {
                notes.put(words.group(1), words.group(2));
            }
        }
        return new FieldTable(names, ignored.isEmpty() ? Set.of() : Set.of(ignored.split(" ")), refused, notes);
    }

    /// {@return this table with the fields of another one}
    ///
    /// @param other the other
    public FieldTable and(FieldTable other) {
        Set<String> allUsed = new TreeSet<>(used);
        allUsed.addAll(other.used);
        Set<String> allIgnored = new TreeSet<>(ignored);
        allIgnored.addAll(other.ignored);
        Map<String, String> allRefused = new TreeMap<>(refused);
        allRefused.putAll(other.refused);
        Map<String, String> allNotes = new TreeMap<>(notes);
        allNotes.putAll(other.notes);
        return new FieldTable(allUsed, allIgnored, allRefused, allNotes);
    }

    /// Checks the names of the fields of an object, and removes those that count as absent: with the value null, and
    /// refused ones whose value asks for nothing.
    ///
    /// @param body the object; changed
    /// @throws RequestException (400) that names the first field that is refused or unknown
    public void check(ObjectNode body) {
        for (String name : unknown(body)) {
            String shown = Exchange.printable(name);
            throw RequestException.tooMuch(shown, "unknown_parameter", "There is no field '" + shown + "' here.");
        }
    }

    /// Checks as [#check] does, but for unknown fields.
    ///
    /// @param body the object; changed
    /// @return the names of its unknown fields, in their order
    /// @throws RequestException (400) that names the first field that is refused
    public List<String> unknown(ObjectNode body) {
        body.properties().removeIf(field -> asksForNothing(field.getKey(), field.getValue()));
        List<String> unknown = new ArrayList<>();
        for (String name : (Iterable<String>) body::fieldNames) {
            if (refused.containsKey(name)) {
                throw RequestException.tooMuch(
                        name, "unsupported_parameter", name + " is not supported. " + refused.get(name));
            }
            if (!used.contains(name) && !ignored.contains(name)) {
                unknown.add(name);
            }
        }
        return unknown;
    }

    private boolean asksForNothing(String name, JsonNode value) {
        boolean off = value.isNumber() && value.asDouble() <= 0
                || value.isBoolean() && !value.asBoolean()
                || (value.isTextual() ? value.asText().isEmpty() : value.isArray() && value.isEmpty());
        return value.isNull() || off && refused.containsKey(name);
    }
}
