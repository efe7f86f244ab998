package dev.tenon.platform.grammar.schema;

import dev.tenon.platform.grammar.expr.GrammarException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A schema within the document.
///
/// @param value its JSON: an object or a boolean
/// @param pointer where it is
record SchemaNode(Object value, String pointer) {
    private static final long MOST = Integer.MAX_VALUE - 1;

    boolean is(boolean constant) {
        return value instanceof Boolean b && b == constant;
    }

    boolean has(String keyword) {
        return value instanceof Map<?, ?> map && map.containsKey(keyword);
    }

    Object get(String keyword) {
        return value instanceof Map<?, ?> map ? map.get(keyword) : null;
    }

    @SuppressWarnings("unchecked")
    Set<String> keywords() {
        if (value instanceof Map<?, ?>) {
            return ((Map<String, Object>) value).keySet();
        }
        throw GrammarException.syntax(
                "The schema at " + (pointer.isEmpty() ? "the root" : pointer) + " is no object and no boolean.");
    }

    SchemaNode child(String keyword) {
        return new SchemaNode(get(keyword), pointer + "/" + keyword);
    }

    /// {@return its JSON, of a schema that is one}
    Object schema() {
        if (!(value instanceof Boolean)) {
            keywords();
        }
        return value;
    }

    /// {@return a schema that follows from this one}
    ///
    /// @param schema its JSON
    /// @param path what tells it from others that follow from this one
    SchemaNode made(Map<String, Object> schema, String... path) {
        return new SchemaNode(schema, pointer + "/~" + String.join("/", path));
    }

    /// {@return the schemas of a keyword whose value is a list of them}
    List<SchemaNode> list(String keyword) {
        List<SchemaNode> nodes = new ArrayList<>();
        if (has(keyword)) {
            if (!(get(keyword) instanceof List<?> list)) {
                throw bad(keyword, "expected an array");
            }
            for (int i = 0; i < list.size(); i++) {
                nodes.add(new SchemaNode(list.get(i), pointer + "/" + keyword + "/" + i));
            }
        }
        return nodes;
    }

    /// {@return the schemas of a keyword whose value has them by name}
    Map<String, SchemaNode> named(String keyword) {
        Map<String, SchemaNode> nodes = new LinkedHashMap<>();
        if (has(keyword)) {
            if (!(get(keyword) instanceof Map<?, ?> map)) {
                throw bad(keyword, "expected an object");
            }
            map.forEach((key, each) -> {
                String name = (String) key;
                String escaped = name.replace("~", "~0").replace("/", "~1");
                nodes.put(name, new SchemaNode(each, pointer + "/" + keyword + "/" + escaped));
            });
        }
        return nodes;
    }

    List<String> strings(String keyword) {
        List<String> strings = new ArrayList<>();
        if (has(keyword)) {
            if (!(get(keyword) instanceof List<?> list)) {
                throw bad(keyword, "expected an array of strings");
            }
            for (Object each : list) {
                if (!(each instanceof String text)) {
                    throw bad(keyword, "expected an array of strings");
                }
                strings.add(text);
            }
        }
        return strings;
    }

    String string(String keyword) {
        if (get(keyword) instanceof String text) {
            return text;
        }
        throw bad(keyword, "expected a string");
    }

    BigDecimal number(String keyword) {
        if (get(keyword) instanceof BigDecimal number) {
            return number;
        }
        throw bad(keyword, "expected a number");
    }

    /// {@return a count; one that is too large for any text is as good as the largest}
    int count(String keyword) {
        BigDecimal number = number(keyword);
        if (number.signum() < 0 || number.stripTrailingZeros().scale() > 0) {
            throw bad(keyword, "expected an integer of 0 or more");
        }
        return (int) number.min(BigDecimal.valueOf(MOST)).longValue();
    }

    GrammarException bad(String keyword, String text) {
        return GrammarException.badValue(text + ".", keyword, pointer);
    }

    GrammarException unsupported(String keyword, String text) {
        return GrammarException.unsupported(text, keyword, pointer);
    }
}
