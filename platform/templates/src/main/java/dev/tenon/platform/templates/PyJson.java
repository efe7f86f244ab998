package dev.tenon.platform.templates;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Python's `json.dumps` with `ensure_ascii=False`, as `tojson` of chat templates writes it.
final class PyJson {
    private final Frame frame;
    private final StringBuilder out = new StringBuilder();
    private final String indent;
    private final String itemSeparator;
    private final String keySeparator;
    private final boolean sortKeys;
    private final boolean ascii;

    private PyJson(Frame frame, Callable.Args args) {
        this.frame = frame;
        ascii = PyOps.truth(args.get(1, "ensure_ascii", false));
        Object by = args.get(2, "indent", None.NONE);
        indent = switch (by) {
            case None n -> null;
            case String s -> s;
            default -> " ".repeat(Math.clamp(PyOps.integerArgument(by, "indent"), 0, 64));
        };
        Object separators = args.get(3, "separators", None.NONE);
        if (separators instanceof List<?> l && l.size() == 2) {
            itemSeparator = PyText.str(frame, l.get(0));
            keySeparator = PyText.str(frame, l.get(1));
        } else {
            itemSeparator = indent == null ? ", " : ",";
            keySeparator = ": ";
        }
        sortKeys = PyOps.truth(args.get(4, "sort_keys", false));
    }

    /// {@return the filter's result; arguments after the value: `ensure_ascii`, `indent`, `separators`,
    /// `sort_keys`}
    ///
    /// @param frame the rendering
    /// @param args value and options
    static String dump(Frame frame, Callable.Args args) {
        PyJson json = new PyJson(frame, args);
        json.write(args.need(0, "value"), 0);
        frame.budget.string(json.out.length());
        return json.out.toString();
    }

    private void write(Object value, int depth) {
        frame.budget.step(1);
        if (out.length() > Budget.MAX_LENGTH) {
            frame.budget.string(out.length());
        }
        switch (value) {
            case String s -> string(s);
            case Boolean b -> out.append(b);
            case None n -> out.append("null");
            case Long l -> out.append(l.longValue());
            case Double d ->
                out.append(
                        d.isNaN() ? "NaN" : d.isInfinite() ? (d > 0 ? "Infinity" : "-Infinity") : PyText.floating(d));
            case List<?> l -> {
                out.append('[');
                boolean first = true;
                for (Object item : l) {
                    separate(first, depth + 1);
                    first = false;
                    write(item, depth + 1);
                }
                close(first, depth, ']');
            }
            case Map<?, ?> m -> {
                out.append('{');
                boolean first = true;
                for (Map.Entry<?, ?> e : sorted(m).entrySet()) {
                    separate(first, depth + 1);
                    first = false;
                    key(e.getKey());
                    out.append(keySeparator);
                    write(e.getValue(), depth + 1);
                }
                close(first, depth, '}');
            }
            case Undefined u -> throw new TemplateFailure(u.what() + ", so it has no JSON form");
            default -> throw new TemplateFailure("Object of type " + PyOps.type(value) + " is not JSON serializable");
        }
    }

    private Map<?, ?> sorted(Map<?, ?> m) {
        if (!sortKeys) {
            return m;
        }
        Map<Object, Object> sorted = new TreeMap<>((a, b) -> PyOps.order(frame, a, b, "<"));
        sorted.putAll(m);
        return sorted;
    }

    private void key(Object key) {
        switch (key) {
            case String s -> string(s);
            case Boolean b -> string(b.toString());
            case None n -> string("null");
            case Long l -> string(l.toString());
            case Double d -> string(PyText.floating(d));
            default -> throw new TemplateFailure("keys must be str, int, float, bool or None");
        }
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
        out.append('\n');
        for (int i = 0; i < depth; i++) {
            out.append(indent);
        }
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
                        out.append("\\u%04x".formatted((int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
