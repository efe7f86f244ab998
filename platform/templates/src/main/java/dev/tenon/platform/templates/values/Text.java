package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// Values as Python writes them, and positions in text, which count code points.
public final class Text {
    /// Types of characters that `repr` escapes.
    private static final int UNPRINTABLE = 1 << Character.CONTROL
            | 1 << Character.FORMAT
            | 1 << Character.SURROGATE
            | 1 << Character.PRIVATE_USE
            | 1 << Character.UNASSIGNED
            | 1 << Character.LINE_SEPARATOR
            | 1 << Character.PARAGRAPH_SEPARATOR
            | 1 << Character.SPACE_SEPARATOR;

    private Text() {}

    /// {@return whether a code point is white space to Python's `str.isspace`}
    public static boolean isSpace(int c) {
        return Character.isSpaceChar(c) || (c >= 9 && c <= 13) || (c >= 28 && c <= 31) || c == 0x85;
    }

    static String need(Object value, String name) {
        Values.used(value);
        if (value instanceof String s) {
            return s;
        }
        throw new TemplateFailure("'" + name + "' must be str, not " + Values.type(value));
    }

    static int length(String s) {
        return s.codePointCount(0, s.length());
    }

    static String slice(String s, int from, int to) {
        int start = s.offsetByCodePoints(0, from);
        return s.substring(start, s.offsetByCodePoints(start, to - from));
    }

    static List<Object> characters(Budget budget, String s) {
        budget.step(s.length());
        List<Object> characters = new ArrayList<>(s.length());
        s.codePoints().forEach(c -> characters.add(Character.toString(c)));
        return characters;
    }

    static int compare(String a, String b) {
        return Arrays.compare(a.codePoints().toArray(), b.codePoints().toArray());
    }

    /// {@return what printing a value writes}
    public static String str(Budget budget, Object value) {
        if (value instanceof String s) {
            return s;
        }
        return value instanceof Undefined ? "" : repr(budget, value);
    }

    static String repr(Budget budget, Object value) {
        if (value instanceof Long l) {
            return Long.toString(l);
        }
        StringBuilder out = new StringBuilder();
        repr(budget, value, out);
        return budget.made(out.toString());
    }

    private static void repr(Budget budget, Object value, StringBuilder out) {
        budget.step(1);
        Budget.check(out);
        switch (value) {
            case String s -> quote(s, out);
            case Boolean b -> out.append(b ? "True" : "False");
            case Double d -> out.append(floating(d));
            case None n -> out.append("None");
            case Undefined u -> out.append("Undefined");
            case List<?> l -> {
                boolean tuple = value instanceof Tuple;
                out.append(tuple ? '(' : '[');
                for (int i = 0; i < l.size(); i++) {
                    repr(budget, l.get(i), out.append(i == 0 ? "" : ", "));
                }
                out.append(tuple ? (l.size() == 1 ? ",)" : ")") : "]");
            }
            case Map<?, ?> m -> {
                String before = "{";
                for (Map.Entry<?, ?> e : m.entrySet()) {
                    repr(budget, e.getKey(), out.append(before));
                    repr(budget, e.getValue(), out.append(": "));
                    before = ", ";
                }
                out.append(m.isEmpty() ? "{}" : "}");
            }
            case Namespace n -> {
                repr(budget, n.attributes(), out.append("<Namespace "));
                out.append('>');
            }
            case Long l -> out.append(l.longValue());
            default -> out.append('<').append(Values.type(value)).append('>');
        }
    }

    private static void quote(String s, StringBuilder out) {
        char quote = s.indexOf('\'') >= 0 && s.indexOf('"') < 0 ? '"' : '\'';
        out.append(quote);
        s.codePoints().forEach(c -> {
            int simple = "\n\r\t\\".indexOf(c);
            if (simple >= 0) {
                out.append('\\').append("nrt\\".charAt(simple));
            } else if (c == quote) {
                out.append('\\').append(quote);
            } else if (c == ' ' || (UNPRINTABLE >> Character.getType(c) & 1) == 0) {
                out.appendCodePoint(c);
            } else {
                out.append((c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x").formatted(c));
            }
        });
        out.append(quote);
    }

    static String floating(double d) {
        if (Double.isNaN(d) || Double.isInfinite(d)) {
            return Double.isNaN(d) ? "nan" : d > 0 ? "inf" : "-inf";
        }
        if (d == 0) {
            return 1 / d < 0 ? "-0.0" : "0.0";
        }
        BigDecimal digits = new BigDecimal(Double.toString(d)).stripTrailingZeros();
        int exponent = digits.precision() - digits.scale() - 1;
        if (exponent >= -4 && exponent < 16) {
            String plain = digits.toPlainString();
            return plain.indexOf('.') < 0 ? plain + ".0" : plain;
        }
        String all = digits.unscaledValue().abs().toString();
        String mantissa = all.length() == 1 ? all : all.charAt(0) + "." + all.substring(1);
        String zero = Math.abs(exponent) < 10 ? "0" : "";
        return (d < 0 ? "-" : "") + mantissa + (exponent < 0 ? "e-" : "e+") + zero + Math.abs(exponent);
    }
}
