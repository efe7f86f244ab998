package dev.tenon.platform.templates.values;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/// Writes values as Python's `repr` does, or as `json.dumps` does, by which `transformers` defines `tojson`.
final class Printer {
    private static final Predicate<String> UNPRINTABLE =
            Pattern.compile("[\\p{C}\\p{Z}&&[^ ]]").asMatchPredicate();
    private static final int PAGE = 80;

    private final Budget budget;
    private final TextBuilder out = new TextBuilder();
    private final boolean json;
    private boolean ascii;
    private boolean sortKeys;
    private Text indent;
    private Text itemSeparator = Text.of(", ");
    private Text keySeparator = Text.of(": ");

    private Printer(Budget budget, boolean json) {
        this.budget = budget;
        this.json = json;
    }

    static Text repr(Budget budget, Object value) {
        return new Printer(budget, false).print(value);
    }

    /// {@return a value as Python's `pprint` writes it}
    static Text pretty(Budget budget, Object value) {
        Printer printer = new Printer(budget, false);
        printer.sortKeys = true;
        Text text = printer.print(value);
        if (text.length() > PAGE && !(Values.isNumber(value))) {
            throw new TemplateFailure("pprint of more than " + PAGE + " characters is not part of chat templates");
        }
        return text;
    }

    static Text json(Budget budget, Object value, Arguments args) {
        Printer printer = new Printer(budget, true);
        printer.ascii = args.flag(0, "ensure_ascii");
        Object by = args.get(1, "indent", Values.NONE);
        if (by != Values.NONE) {
            printer.indent =
                    by instanceof Text s ? s : Text.of(" ".repeat(Math.clamp(args.integer(1, "indent", 0), 0, 64)));
            printer.itemSeparator = Text.of(",");
        }
        if (args.get(2, "separators", Values.NONE) instanceof List<?> l && l.size() == 2) {
            printer.itemSeparator = Text.need(l.get(0), "separators");
            printer.keySeparator = Text.need(l.get(1), "separators");
        }
        printer.sortKeys = args.flag(3, "sort_keys");
        return printer.print(value);
    }

    static boolean isPrintable(int c) {
        return !UNPRINTABLE.test(Character.toString(c));
    }

    private Text print(Object value) {
        write(value, 0);
        return Splits.made(budget, out);
    }

    private void write(Object value, int depth) {
        budget.step(1);
        if (value instanceof Text s) {
            quote(s);
        } else if (value instanceof List<?> l && !(value instanceof Range)) {
            boolean tuple = !json && value instanceof Tuple;
            writeAll(tuple ? "(" : "[", l, tuple ? (l.size() == 1 ? ",)" : ")") : "]", depth);
        } else if (value instanceof Map<?, ?> m) {
            writeAll("{", sorted(m).entrySet(), "}", depth);
        } else if (value instanceof View view && !json) {
            out.append(view.type()).append("(");
            write(view.items(), depth);
            out.append(")");
        } else if (value instanceof Builtin.Namespace n && !json) {
            out.append("<Namespace ");
            write(n.attributes(), depth);
            out.append(">");
        } else {
            out.append(scalar(value));
        }
    }

    private void writeAll(String open, Collection<?> items, String close, int depth) {
        out.append(open);
        Text before = Text.EMPTY;
        for (Object item : items) {
            newline(before, depth + 1);
            before = itemSeparator;
            if (item instanceof Map.Entry<?, ?> e) {
                if (json && !(e.getKey() instanceof Text)) {
                    if (e.getKey() instanceof List) {
                        throw new TemplateFailure("keys must be str, int, float, bool or None, not tuple");
                    }
                    out.append("\"").append(scalar(e.getKey())).append("\"");
                } else {
                    write(e.getKey(), depth);
                }
                out.append(keySeparator);
            }
            write(item instanceof Map.Entry<?, ?> e ? e.getValue() : item, depth + 1);
        }
        if (!items.isEmpty()) {
            newline(Text.EMPTY, depth);
        }
        out.append(close);
    }

    private void newline(Text before, int depth) {
        out.append(before);
        if (indent != null) {
            out.append("\n").append(indent.repeat(depth));
        }
    }

    private String scalar(Object value) {
        return switch (value) {
            case Boolean b -> json ? b.toString() : b ? "True" : "False";
            case Long l -> l.toString();
            case Double d when json && d.isNaN() -> "NaN";
            case Double d when json && d.isInfinite() -> d > 0 ? "Infinity" : "-Infinity";
            case Double d -> Numbers.repr(d);
            case Object o when o == Values.NONE -> json ? "null" : "None";
            case Object o
            when json -> throw new TemplateFailure("Object of type " + Values.type(o) + " is not JSON serializable");
            case Undefined u -> "Undefined";
            case Range range -> range.toString();
            default -> "<" + Values.type(value) + ">";
        };
    }

    private Map<?, ?> sorted(Map<?, ?> m) {
        if (!sortKeys) {
            return m;
        }
        Map<Object, Object> sorted = new TreeMap<>((a, b) -> Operators.order(budget, "<", a, b));
        sorted.putAll(m);
        return sorted;
    }

    private void quote(Text text) {
        String s = text.toString();
        char quote = json || s.indexOf('\'') >= 0 && s.indexOf('"') < 0 ? '"' : '\'';
        out.append(quote);
        int from = 0;
        int c;
        for (int i = 0; i < s.length(); i += json ? 1 : Character.charCount(c)) {
            c = json ? s.charAt(i) : s.codePointAt(i);
            String escape = escape(c, quote);
            if (escape != null) {
                out.append(text, from, i).append(escape, text, i);
                from = i + (json ? 1 : Character.charCount(c));
            }
        }
        out.append(text, from, s.length()).append(quote);
    }

    /// {@return what stands for a character, or null if it stands for itself}
    private String escape(int c, char quote) {
        int simple = (json ? "\\\n\r\t\b\f" : "\\\n\r\t").indexOf(c);
        if (simple >= 0 || c == quote) {
            return "\\" + (c == quote ? quote : "\\nrtbf".charAt(simple));
        }
        if (json ? c >= 0x20 && !(ascii && c > 0x7e) : c >= 0x20 && c < 0x7f || isPrintable(c)) {
            return null;
        }
        return (json || c > 0xff && c < 0x10000 ? "\\u%04x" : c < 0x100 ? "\\x%02x" : "\\U%08x").formatted(c);
    }
}
