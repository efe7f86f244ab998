package dev.tenon.platform.templates.values;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Python's `json.dumps`, as `transformers` defines `tojson` by it.
final class Json {
    private final Budget budget;
    private final StringBuilder out = new StringBuilder();
    private final String indent;
    private final String itemSeparator;
    private final String keySeparator;
    private final boolean sortKeys;
    private final boolean ascii;

    private Json(Budget budget, Arguments args) {
        this.budget = budget;
        ascii = args.flag(0, "ensure_ascii", false);
        Object by = args.get(1, "indent", None.NONE);
        if (by == None.NONE) {
            indent = null;
        } else {
            indent = by instanceof String s ? s : " ".repeat(Math.clamp(Numbers.integerArgument(by, "indent"), 0, 64));
        }
        if (args.get(2, "separators") instanceof List<?> l && l.size() == 2) {
            itemSeparator = Text.need(l.get(0), "separators");
            keySeparator = Text.need(l.get(1), "separators");
        } else {
            itemSeparator = indent == null ? ", " : ",";
            keySeparator = ": ";
        }
        sortKeys = args.flag(3, "sort_keys", false);
    }

    /// {@return a value as JSON}
    static String dump(Budget budget, Object value, Arguments args) {
        Json json = new Json(budget, args);
        json.write(value, 0);
        return budget.made(json.out.toString());
    }

    private void write(Object value, int depth) {
        budget.step(1);
        Budget.check(out);
        if (value instanceof List<?> l) {
            out.append('[');
            boolean first = true;
            for (Object item : l) {
                separate(first, depth + 1);
                first = false;
                write(item, depth + 1);
            }
            close(first, depth, ']');
        } else if (value instanceof Map<?, ?> m) {
            out.append('{');
            boolean first = true;
            for (Map.Entry<?, ?> e : sorted(m).entrySet()) {
                separate(first, depth + 1);
                first = false;
                if (e.getKey() instanceof Tuple) {
                    throw new TemplateFailure("keys must be str, int, float, bool or None, not tuple");
                }
                string(e.getKey() instanceof String s ? s : scalar(e.getKey()));
                out.append(keySeparator);
                write(e.getValue(), depth + 1);
            }
            close(first, depth, '}');
        } else if (value instanceof String s) {
            string(s);
        } else {
            out.append(scalar(value));
        }
    }

    private static String scalar(Object value) {
        if (value == None.NONE) {
            return "null";
        }
        if (value instanceof Boolean || value instanceof Long) {
            return value.toString();
        }
        if (value instanceof Double d) {
            return d.isNaN() ? "NaN" : d.isInfinite() ? (d > 0 ? "Infinity" : "-Infinity") : Text.floating(d);
        }
        throw new TemplateFailure("Object of type " + Values.type(value) + " is not JSON serializable");
    }

    private Map<?, ?> sorted(Map<?, ?> m) {
        if (!sortKeys) {
            return m;
        }
        Map<Object, Object> sorted = new TreeMap<>((a, b) -> Comparison.LT.order(budget, a, b));
        sorted.putAll(m);
        return sorted;
    }

    private void separate(boolean first, int depth) {
        out.append(first ? "" : itemSeparator);
        if (indent != null) {
            newline(depth);
        }
    }

    private void close(boolean empty, int depth, char bracket) {
        if (indent != null && !empty) {
            newline(depth);
        }
        out.append(bracket);
    }

    private void newline(int depth) {
        out.append('\n').repeat(indent, depth);
    }

    private void string(String s) {
        out.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                default -> {
                    if (c < 0x20 || (ascii && c > 0x7e)) {
                        Text.hex(out.append("\\u"), c, 4);
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
