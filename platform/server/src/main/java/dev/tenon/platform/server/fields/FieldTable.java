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

/// All fields that an end point knows: those that work, those that change nothing, and those that are refused with the
/// reason, unless their value asks for nothing. Any other is unknown. Immutable.
///
/// @param used fields that work
/// @param ignored fields that are accepted and change nothing
/// @param refused fields that are refused, with what to do instead
public record FieldTable(Set<String> used, Set<String> ignored, Map<String, String> refused) {
    /// Copies.
    public FieldTable {
        used = Set.copyOf(used);
        ignored = Set.copyOf(ignored);
        refused = Map.copyOf(refused);
    }

    /// {@return a table}
    ///
    /// @param used fields that work, separated by blanks
    /// @param ignored fields that change nothing, separated by blanks
    /// @param refused fields that are refused, with what to do instead
    public static FieldTable of(String used, String ignored, Map<String, String> refused) {
        return new FieldTable(words(used), words(ignored), refused);
    }

    private static Set<String> words(String text) {
        return text.isBlank() ? Set.of() : Set.of(text.strip().split("\\s+"));
    }

    /// {@return this table with the fields of another one}
    ///
    /// @param other the other
    public FieldTable and(FieldTable other) {
        Set<String> allUsed = new java.util.TreeSet<>(used);
        allUsed.addAll(other.used);
        Set<String> allIgnored = new java.util.TreeSet<>(ignored);
        allIgnored.addAll(other.ignored);
        Map<String, String> allRefused = new TreeMap<>(refused);
        allRefused.putAll(other.refused);
        return new FieldTable(allUsed, allIgnored, allRefused);
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
