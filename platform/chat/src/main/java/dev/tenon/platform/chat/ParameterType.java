package dev.tenon.platform.chat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// What a parameter may be by its tool's schema; for calls that write values without telling what they are.
///
/// @param kinds what values it may have
record ParameterType(Set<Kind> kinds) {
    /// Deepest nesting of references that is followed.
    private static final int MOST_DEPTH = 16;

    /// Kinds of JSON values.
    enum Kind {
        STRING,
        NUMBER,
        BOOLEAN,
        NULL,
        OBJECT,
        ARRAY
    }

    /// {@return what a schema allows}
    ///
    /// @param schema the schema; null if there is none
    /// @param root the schema that has its definitions
    static ParameterType of(Object schema, Map<String, Object> root) {
        Set<Kind> kinds = kinds(schema, root, 0);
        return new ParameterType(kinds.isEmpty() ? EnumSet.allOf(Kind.class) : kinds);
    }

    private static Set<Kind> kinds(Object schema, Map<String, Object> root, int depth) {
        Set<Kind> kinds = EnumSet.allOf(Kind.class);
        if (!(schema instanceof Map<?, ?> map) || depth == MOST_DEPTH) {
            return kinds;
        }
        if (map.containsKey("type")) {
            kinds.retainAll(named(map.get("type"), Boolean.TRUE.equals(map.get("nullable"))));
        }
        if (map.containsKey("const")) {
            kinds.retainAll(EnumSet.of(kind(Json.tree(map.get("const")))));
        }
        if (map.get("enum") instanceof List<?> values) {
            Set<Kind> any = EnumSet.noneOf(Kind.class);
            values.forEach(value -> any.add(kind(Json.tree(value))));
            kinds.retainAll(any);
        }
        if (map.get("$ref") instanceof String ref) {
            kinds.retainAll(kinds(referred(ref, root), root, depth + 1));
        }
        if (map.get("allOf") instanceof List<?> all) {
            all.forEach(each -> kinds.retainAll(kinds(each, root, depth + 1)));
        }
        for (String one : List.of("anyOf", "oneOf")) {
            if (map.get(one) instanceof List<?> several) {
                Set<Kind> any = EnumSet.noneOf(Kind.class);
                several.forEach(each -> any.addAll(kinds(each, root, depth + 1)));
                kinds.retainAll(any);
            }
        }
        return kinds;
    }

    private static Set<Kind> named(Object type, boolean nullable) {
        Set<Kind> kinds = nullable ? EnumSet.of(Kind.NULL) : EnumSet.noneOf(Kind.class);
        for (Object each : type instanceof Collection<?> several ? several : List.of(String.valueOf(type))) {
            switch (String.valueOf(each)) {
                case "string" -> kinds.add(Kind.STRING);
                case "integer", "number" -> kinds.add(Kind.NUMBER);
                case "boolean" -> kinds.add(Kind.BOOLEAN);
                case "null" -> kinds.add(Kind.NULL);
                case "object" -> kinds.add(Kind.OBJECT);
                case "array" -> kinds.add(Kind.ARRAY);
                default -> kinds.addAll(EnumSet.allOf(Kind.class)); // no type of JSON
            }
        }
        return kinds;
    }

    private static Kind kind(JsonNode value) {
        return switch (value.getNodeType()) {
            case STRING -> Kind.STRING;
            case NUMBER -> Kind.NUMBER;
            case BOOLEAN -> Kind.BOOLEAN;
            case OBJECT -> Kind.OBJECT;
            case ARRAY -> Kind.ARRAY;
            default -> Kind.NULL;
        };
    }

    /// {@return what a pointer into the tool's own schema means; null if that is nothing}
    private static Object referred(String ref, Map<String, Object> root) {
        Object at = root;
        for (String part : ref.startsWith("#/") ? ref.substring(2).split("/") : new String[] {ref}) {
            String key = part.replace("~1", "/").replace("~0", "~");
            at = at instanceof Map<?, ?> map ? map.get(key) : null;
        }
        return ref.equals("#") ? root : at;
    }

    /// {@return what it may be of a value that tells whether it is a string; this where the schema has it otherwise}
    ParameterType told(boolean string) {
        Set<Kind> left = EnumSet.copyOf(kinds);
        left.removeIf(kind -> (kind == Kind.STRING) != string);
        return left.isEmpty() ? this : new ParameterType(left);
    }

    /// {@return whether it is a string and nothing else}
    boolean isText() {
        return kinds.equals(EnumSet.of(Kind.STRING));
    }

    /// {@return the JSON of a value: of the first kind that it may have and that its text shows, else of a string}
    ///
    /// @param text the value, as it was written
    String json(String text) {
        String word = text.strip();
        JsonNode json = Json.parse(word);
        if (kinds.size() == Kind.values().length) {
            return !word.isEmpty() && json != null ? word : structure(word, text);
        }
        String constant = LiteralReader.constant(word);
        if (constant != null && kinds.contains(kind(Json.parse(constant)))) {
            return constant;
        }
        boolean string = kinds.contains(Kind.STRING);
        if (!string && json != null && json.isTextual()) {
            return json(json.asText()); // JSON in a string of JSON
        }
        return structure(word, text);
    }

    /// {@return the JSON of an object or a list, if one may be and the text is one; else that of a string}
    private String structure(String word, String text) {
        String value = word.matches("(?s)[\\[{(].*") ? LiteralReader.json(word) : null;
        return value != null && kinds.contains(kind(value)) ? value : Json.text(text);
    }

    private static Kind kind(String structure) {
        return structure.startsWith("{") ? Kind.OBJECT : Kind.ARRAY;
    }
}
