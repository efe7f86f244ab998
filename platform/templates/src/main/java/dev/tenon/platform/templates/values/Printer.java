package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
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
        Object by = args.get(1, "indent", Values.NONE);
        if (by != Values.NONE) {
            printer.indent = by instanceof String s ? s : " ".repeat(Math.clamp(args.integer(1, "indent", 0), 0, 64));
            printer.itemSeparator = ",";
        }
        if (args.get(2, "separators", Values.NONE) instanceof List<?> l && l.size() == 2) {
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
            writeAll(tuple ? "(" : "[", l, tuple ? (l.size() == 1 ? ",)" : ")") : "]", depth);
        } else if (value instanceof Map<?, ?> m) {
            writeAll("{", sorted(m).entrySet(), "}", depth);
        } else if (value instanceof Builtin.Namespace n && !json) {
            out.append("<Namespace ");
            write(n.attributes(), depth);
            out.append('>');
        } else {
            out.append(scalar(value));
        }
    }

    private void writeAll(String open, Collection<?> items, String close, int depth) {
        out.append(open);
        String before = "";
        for (Object item : items) {
            newline(before, depth + 1);
            before = itemSeparator;
            if (item instanceof Map.Entry<?, ?> e) {
                write(json && !(e.getKey() instanceof String) ? scalar(e.getKey()) : e.getKey(), depth);
                out.append(keySeparator);
            }
            write(item instanceof Map.Entry<?, ?> e ? e.getValue() : item, depth + 1);
        }
        if (!items.isEmpty()) {
            newline("", depth);
        }
        out.append(close);
    }

    private void newline(String before, int depth) {
        out.append(before);
        if (indent != null) {
            out.append('\n').repeat(indent, depth);
        }
    }

    private String scalar(Object value) {
        return switch (value) {
            case Boolean b -> json ? b.toString() : b ? "True" : "False";
            case Long l -> l.toString();
            case Double d when json && d.isNaN() -> "NaN";
            case Double d when json && d.isInfinite() -> d > 0 ? "Infinity" : "-Infinity";
            case Double d -> floating(d);
            case Object o when o == Values.NONE -> json ? "null" : "None";
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

    private void quote(String s) {
        char quote = json || s.indexOf('\'') >= 0 && s.indexOf('"') < 0 ? '"' : '\'';
        out.append(quote);
        (json ? s.chars() : s.codePoints()).forEach(c -> {
            int simple = (json ? "\\\n\r\t\b\f" : "\\\n\r\t").indexOf(c);
            if (simple >= 0 || c == quote) {
                out.append('\\').append(c == quote ? quote : "\\nrtbf".charAt(simple));
            } else if (json ? c >= 0x20 && !(ascii && c > 0x7e) : !UNPRINTABLE.test(Character.toString(c))) {
                out.appendCodePoint(c);
            } else {
                out.append(
                        (json || c > 0xff && c < 0x10000 ? "\\u%04x" : c < 0x100 ? "\\x%02x" : "\\U%08x").formatted(c));
            }
        });
        out.append(quote);
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
