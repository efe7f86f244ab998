package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.chat.CallFormat.Notation;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// A notation of calls whose arguments are a list of names and values, but no JSON.
///
/// @param begin before the arguments
/// @param assign between the name of an argument and its value
/// @param between between two arguments
/// @param end after the arguments
/// @param quote around strings, which have no escapes then; empty if strings are those of Python
record Literals(char begin, String assign, String between, char end, String quote) {
    /// What Python calls by keyword look like.
    static final Literals PYTHON = new Literals('(', "=", ", ", ')', "");
    /// What calls of Gemma 4 look like.
    static final Literals GEMMA = new Literals('{', ":", ",", '}', "<|\"|>");

    /// What JSON looks like.
    static final Literals JSON = new Literals('{', ":", ", ", '}', "");

    static Literals of(Notation notation) {
        return switch (notation) {
            case PYTHON -> PYTHON;
            case GEMMA -> GEMMA;
        };
    }

    /// {@return whether arguments are assigned, as Python does}
    boolean assigns() {
        return assign.equals("=");
    }

    /// {@return whether a word that is no constant is a string}
    boolean words() {
        return this != JSON;
    }

    /// {@return what a call begins with; the group `name` is the tool}
    ///
    /// @param lead before the tool's name
    String header(String lead) {
        return Pattern.quote(lead) + "(?<name>[A-Za-z_][\\w.-]*)\\s*" + Pattern.quote(String.valueOf(begin));
    }

    /// {@return whether an argument of this name can be written}
    boolean writes(String key) {
        return key.matches("[A-Za-z_][A-Za-z0-9_]*") || !quote.isEmpty() && key.matches("[A-Za-z0-9_.$-]+");
    }

    /// {@return the arguments of a call, without what stands around them}
    ///
    /// @param arguments a JSON object; anything else is written as it is
    String arguments(Object arguments) {
        JsonNode json = Json.parse(arguments instanceof String text ? text : Json.text(arguments));
        return json != null && json.isObject() ? members(json, assign) : String.valueOf(arguments);
    }

    private String members(JsonNode object, String colon) {
        List<String> members = new ArrayList<>();
        object.properties().forEach(each -> members.add(key(each.getKey(), colon) + colon + value(each.getValue())));
        return String.join(between, members);
    }

    private String key(String key, String colon) {
        return quote.isEmpty() && !colon.equals(assign) ? Json.text(key) : key;
    }

    private String value(JsonNode value) {
        if (value.isObject()) {
            return "{" + members(value, quote.isEmpty() ? ": " : assign) + "}";
        }
        if (value.isArray()) {
            List<String> items = new ArrayList<>();
            value.forEach(item -> items.add(value(item)));
            return "[" + String.join(between, items) + "]";
        }
        if (!quote.isEmpty()) {
            return value.isTextual() ? quote + value.asText() + quote : value.toString();
        }
        return value.isBoolean() ? (value.asBoolean() ? "True" : "False") : value.isNull() ? "None" : value.toString();
    }
}
