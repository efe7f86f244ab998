package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Values as Python writes them, and positions in text, which count code points.
public final class Text {
    private Text() {}

    /// {@return whether Python's `str.isspace` holds}
    public static boolean isSpace(int c) {
        return (c >= 9 && c <= 13)
                || (c >= 28 && c <= 32)
                || c == 0x85
                || c == 0xa0
                || c == 0x1680
                || (c >= 0x2000 && c <= 0x200a)
                || c == 0x2028
                || c == 0x2029
                || c == 0x202f
                || c == 0x205f
                || c == 0x3000;
    }

    /// {@return a value that must be a string}
    static String need(Object value, String name) {
        Values.used(value);
        if (value instanceof String s) {
            return s;
        }
        throw new TemplateFailure("'" + name + "' must be str, not " + Values.type(value));
    }

    /// {@return number of code points}
    static int length(String s) {
        return s.codePointCount(0, s.length());
    }

    /// {@return the code points from one position to before another}
    static String slice(String s, int from, int to) {
        int start = s.offsetByCodePoints(0, from);
        return s.substring(start, s.offsetByCodePoints(start, to - from));
    }

    /// {@return the code points as strings}
    static List<Object> characters(Budget budget, String s) {
        budget.step(s.length());
        List<Object> characters = new ArrayList<>(s.length());
        for (int i = 0; i < s.length(); ) {
            int c = s.codePointAt(i);
            characters.add(Character.toString(c));
            i += Character.charCount(c);
        }
        return characters;
    }

    /// {@return order by code points}
    static int compare(String a, String b) {
        int n = Math.min(a.length(), b.length());
        for (int i = 0; i < n; i++) {
            char x = a.charAt(i);
            char y = b.charAt(i);
            if (x != y) {
                boolean sx = Character.isSurrogate(x);
                boolean sy = Character.isSurrogate(y);
                return sx == sy ? Character.compare(x, y) : sx ? 1 : -1;
            }
        }
        return Integer.compare(a.length(), b.length());
    }

    /// {@return what printing a value writes}
    public static String str(Budget budget, Object value) {
        if (value instanceof String s) {
            return s;
        }
        return value instanceof Undefined ? "" : repr(budget, value);
    }

    /// {@return Python's `repr`}
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
                    out.append(i == 0 ? "" : ", ");
                    repr(budget, l.get(i), out);
                }
                out.append(tuple ? (l.size() == 1 ? ",)" : ")") : "]");
            }
            case Map<?, ?> m -> {
                out.append('{');
                boolean first = true;
                for (Map.Entry<?, ?> e : m.entrySet()) {
                    out.append(first ? "" : ", ");
                    first = false;
                    repr(budget, e.getKey(), out);
                    out.append(": ");
                    repr(budget, e.getValue(), out);
                }
                out.append('}');
            }
            case Namespace n -> {
                out.append("<Namespace ");
                repr(budget, n.attributes(), out);
                out.append('>');
            }
            case Long l -> out.append(l.longValue());
            default -> out.append('<').append(Values.type(value)).append('>');
        }
    }

    private static void quote(String s, StringBuilder out) {
        char quote = s.indexOf('\'') >= 0 && s.indexOf('"') < 0 ? '"' : '\'';
        out.append(quote);
        for (int i = 0; i < s.length(); ) {
            int c = s.codePointAt(i);
            i += Character.charCount(c);
            switch (c) {
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\\' -> out.append("\\\\");
                default -> {
                    if (c == quote) {
                        out.append('\\').append(quote);
                    } else if (isPrintable(c)) {
                        out.appendCodePoint(c);
                    } else if (c < 0x100) {
                        hex(out.append("\\x"), c, 2);
                    } else {
                        hex(out.append(c < 0x10000 ? "\\u" : "\\U"), c, c < 0x10000 ? 4 : 8);
                    }
                }
            }
        }
        out.append(quote);
    }

    /// Writes a number with leading zeros in base 16.
    static void hex(StringBuilder out, int value, int digits) {
        for (int shift = 4 * digits - 4; shift >= 0; shift -= 4) {
            out.append(Character.forDigit(value >>> shift & 15, 16));
        }
    }

    private static boolean isPrintable(int c) {
        return c == ' '
                || switch (Character.getType(c)) {
                    case Character.CONTROL,
                            Character.FORMAT,
                            Character.SURROGATE,
                            Character.PRIVATE_USE,
                            Character.UNASSIGNED,
                            Character.LINE_SEPARATOR,
                            Character.PARAGRAPH_SEPARATOR,
                            Character.SPACE_SEPARATOR -> false;
                    default -> true;
                };
    }

    /// {@return a float as Python prints it: the shortest digits, an exponent from 1e16 and below 1e-4}
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
        return (d < 0 ? "-" : "") + scientific(digits.unscaledValue().abs().toString(), exponent);
    }

    /// {@return digits with a point after the first and an exponent of at least two digits}
    static String scientific(String digits, int exponent) {
        String mantissa = digits.length() == 1 ? digits : digits.charAt(0) + "." + digits.substring(1);
        int size = Math.abs(exponent);
        return mantissa + "e" + (exponent < 0 ? "-" : "+") + (size < 10 ? "0" : "") + size;
    }
}
