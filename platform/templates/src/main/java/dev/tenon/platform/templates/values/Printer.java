package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Writes values as Python's `repr` does, or as `json.dumps` does, by which `transformers` defines `tojson`.
final class Printer {
    /// Types of characters that `repr` escapes.
    private static final int UNPRINTABLE = 1 << Character.CONTROL
            | 1 << Character.FORMAT
            | 1 << Character.SURROGATE
            | 1 << Character.PRIVATE_USE
            | 1 << Character.UNASSIGNED
            | 1 << Character.LINE_SEPARATOR
            | 1 << Character.PARAGRAPH_SEPARATOR
            | 1 << Character.SPACE_SEPARATOR;

    private final Budget budget;
    private final StringBuilder out = new StringBuilder();
    private final boolean json;
    private boolean ascii;
    private boolean sortKeys;
    private String indent;
    private String itemSeparator = ", ";
    private String keySeparator = ": ";

    private Printer(Budget budget, boolean json) {
        this.budget = budget;
        this.json = json;
    }

    static String repr(Budget budget, Object value) {
        return new Printer(budget, false).print(value);
    }

    static String json(Budget budget, Object value, Arguments args) {
        Printer printer = new Printer(budget, true);
        printer.ascii = args.flag(0, "ensure_ascii");
        Object by = args.get(1, "indent", None.NONE);
        if (by != None.NONE) {
            printer.indent = by instanceof String s ? s : " ".repeat(Math.clamp(args.integer(1, "indent", 0), 0, 64));
            printer.itemSeparator = ",";
        }
        if (args.get(2, "separators", None.NONE) instanceof List<?> l && l.size() == 2) {
            printer.itemSeparator = Text.need(l.get(0), "separators");
            printer.keySeparator = Text.need(l.get(1), "separators");
        }
        printer.sortKeys = args.flag(3, "sort_keys");
        return printer.print(value);
    }

    private String print(Object value) {
        write(value, 0);
        return budget.made(out.toString());
    }

    private void write(Object value, int depth) {
        budget.step(1);
        Budget.check(out);
        if (value instanceof String s) {
            quote(s);
        } else if (value instanceof List<?> l) {
            boolean tuple = !json && value instanceof Tuple;
            out.append(tuple ? '(' : '[');
            boolean first = true;
            for (Object item : l) {
                separate(first, depth + 1);
                first = false;
                write(item, depth + 1);
            }
            close(first, depth, !tuple ? "]" : l.size() == 1 ? ",)" : ")");
        } else if (value instanceof Map<?, ?> m) {
            out.append('{');
            boolean first = true;
            for (Map.Entry<?, ?> e : sorted(m).entrySet()) {
                separate(first, depth + 1);
                first = false;
                write(json && !(e.getKey() instanceof String) ? scalar(e.getKey()) : e.getKey(), depth);
                out.append(keySeparator);
                write(e.getValue(), depth + 1);
            }
            close(first, depth, "}");
        } else if (value instanceof Namespace n && !json) {
            out.append("<Namespace ");
            write(n.attributes(), depth);
            out.append('>');
        } else {
            out.append(scalar(value));
        }
    }

    private String scalar(Object value) {
        return switch (value) {
            case Boolean b -> json ? b.toString() : b ? "True" : "False";
            case Long l -> l.toString();
            case Double d when json && d.isNaN() -> "NaN";
            case Double d when json && d.isInfinite() -> d > 0 ? "Infinity" : "-Infinity";
            case Double d -> floating(d);
            case None n -> json ? "null" : "None";
            case Object o
            when json -> throw new TemplateFailure("Object of type " + Values.type(o) + " is not JSON serializable");
            case Undefined u -> "Undefined";
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

    private void separate(boolean first, int depth) {
        out.append(first ? "" : itemSeparator);
        if (indent != null) {
            out.append('\n').repeat(indent, depth);
        }
    }

    private void close(boolean empty, int depth, String bracket) {
        if (indent != null && !empty) {
            out.append('\n').repeat(indent, depth);
        }
        out.append(bracket);
    }

    private void quote(String s) {
        char quote = json || s.indexOf('\'') >= 0 && s.indexOf('"') < 0 ? '"' : '\'';
        out.append(quote);
        (json ? s.chars() : s.codePoints()).forEach(c -> {
            int simple = (json ? "\\\n\r\t\b\f" : "\\\n\r\t").indexOf(c);
            if (simple >= 0 || c == quote) {
                out.append('\\').append(c == quote ? quote : "\\nrtbf".charAt(simple));
            } else if (json ? c >= 0x20 && !(ascii && c > 0x7e) : isPrintable(c)) {
                out.appendCodePoint(c);
            } else {
                out.append(
                        (json || c > 0xff && c < 0x10000 ? "\\u%04x" : c < 0x100 ? "\\x%02x" : "\\U%08x").formatted(c));
            }
        });
        out.append(quote);
    }

    private static boolean isPrintable(int c) {
        return c == ' ' || (UNPRINTABLE >> Character.getType(c) & 1) == 0;
    }

    /// {@return a float as Python prints it: the shortest digits, an exponent from 1e16 and below 1e-4}
    private static String floating(double d) {
        if (Double.isNaN(d) || Double.isInfinite(d)) {
            return Double.isNaN(d) ? "nan" : d > 0 ? "inf" : "-inf";
        }
        if (d == 0) {
            return 1 / d < 0 ? "-0.0" : "0.0";
        }
        BigDecimal digits = new BigDecimal(Double.toString(d)).stripTrailingZeros();
        int exponent = digits.precision() - digits.scale() - 1;
        if (exponent >= -4 && exponent < 16) {
            return digits.scale() > 0 ? digits.toPlainString() : digits.toPlainString() + ".0";
        }
        String all = digits.unscaledValue().abs().toString();
        String mantissa = all.length() == 1 ? all : all.charAt(0) + "." + all.substring(1);
        String zero = Math.abs(exponent) < 10 ? "0" : "";
        return (d < 0 ? "-" : "") + mantissa + (exponent < 0 ? "e-" : "e+") + zero + Math.abs(exponent);
    }
}
