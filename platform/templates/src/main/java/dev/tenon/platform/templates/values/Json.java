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
        ascii = args.flag(0, "ensure_ascii");
        Object by = args.get(1, "indent", None.NONE);
        indent = by == None.NONE
                ? null
                : by instanceof String s ? s : " ".repeat(Math.clamp(args.integer(1, "indent", 0), 0, 64));
        if (args.get(2, "separators", None.NONE) instanceof List<?> l && l.size() == 2) {
            itemSeparator = Text.need(l.get(0), "separators");
            keySeparator = Text.need(l.get(1), "separators");
        } else {
            itemSeparator = indent == null ? ", " : ",";
            keySeparator = ": ";
        }
        sortKeys = args.flag(3, "sort_keys");
    }

    static String dump(Budget budget, Object value, Arguments args) {
        Json json = new Json(budget, args);
        json.write(value, 0);
        return budget.made(json.out.toString());
    }

    private void write(Object value, int depth) {
        budget.step(1);
        Budget.check(out);
        if (value instanceof List<?> l) {
            String before = "[";
            for (Object item : l) {
                newline(before, depth + 1);
                before = itemSeparator;
                write(item, depth + 1);
            }
            newline(l.isEmpty() ? null : "", depth);
            out.append(l.isEmpty() ? "[]" : "]");
        } else if (value instanceof Map<?, ?> m) {
            String before = "{";
            for (Map.Entry<?, ?> e : sorted(m).entrySet()) {
                newline(before, depth + 1);
                before = itemSeparator;
                string(e.getKey() instanceof String s ? s : scalar(e.getKey()));
                out.append(keySeparator);
                write(e.getValue(), depth + 1);
            }
            newline(m.isEmpty() ? null : "", depth);
            out.append(m.isEmpty() ? "{}" : "}");
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
        Map<Object, Object> sorted = new TreeMap<>((a, b) -> Operators.order(budget, "<", a, b));
        sorted.putAll(m);
        return sorted;
    }

    private void newline(String before, int depth) {
        out.append(before == null ? "" : before);
        if (before != null && indent != null) {
            out.append('\n').repeat(indent, depth);
        }
    }

    private void string(String s) {
        out.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            int simple = "\"\\\n\r\t\b\f".indexOf(c);
            if (simple >= 0) {
                out.append('\\').append("\"\\nrtbf".charAt(simple));
            } else if (c < 0x20 || (ascii && c > 0x7e)) {
                out.append("\\u%04x".formatted((int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
