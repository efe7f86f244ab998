package dev.tenon.platform.templates;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.IllegalFormatException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Text as Python makes it: `str`, `repr`, positions that count code points, white space, `%` formats.
final class PyText {
    private PyText() {}

    /// {@return whether Python's `str.isspace` holds}
    static boolean isSpace(char c) {
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

    /// {@return number of code points}
    static int length(String s) {
        return s.codePointCount(0, s.length());
    }

    /// {@return a part, by code points}
    ///
    /// @param s the text
    /// @param from first code point
    /// @param to code point after the last
    static String slice(String s, int from, int to) {
        int start = s.offsetByCodePoints(0, from);
        return s.substring(start, s.offsetByCodePoints(start, to - from));
    }

    /// {@return the code points as strings}
    static List<Object> characters(Frame frame, String s) {
        frame.budget.step(s.length());
        List<Object> characters = new ArrayList<>(s.length());
        s.codePoints().forEach(c -> characters.add(Character.toString(c)));
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
    static String str(Frame frame, Object value) {
        return switch (value) {
            case String s -> s;
            case Undefined u -> "";
            default -> repr(frame, value);
        };
    }

    /// {@return Python's `repr`}
    static String repr(Frame frame, Object value) {
        if (value instanceof Boolean || value instanceof Long || value instanceof Double || value == None.NONE) {
            return scalar(value);
        }
        StringBuilder out = new StringBuilder();
        repr(frame, value, out);
        frame.budget.string(out.length());
        return out.toString();
    }

    private static String scalar(Object value) {
        return switch (value) {
            case Boolean b -> b ? "True" : "False";
            case Double d -> floating(d);
            case None n -> "None";
            default -> value.toString();
        };
    }

    private static void repr(Frame frame, Object value, StringBuilder out) {
        frame.budget.step(1);
        if (out.length() > Budget.MAX_LENGTH) {
            frame.budget.string(out.length());
        }
        switch (value) {
            case String s -> quote(s, out);
            case List<?> l -> {
                boolean tuple = value instanceof PyTuple;
                out.append(tuple ? '(' : '[');
                for (int i = 0; i < l.size(); i++) {
                    out.append(i == 0 ? "" : ", ");
                    repr(frame, l.get(i), out);
                }
                out.append(tuple ? (l.size() == 1 ? ",)" : ")") : "]");
            }
            case Map<?, ?> m -> {
                out.append('{');
                boolean first = true;
                for (Map.Entry<?, ?> e : m.entrySet()) {
                    out.append(first ? "" : ", ");
                    first = false;
                    repr(frame, e.getKey(), out);
                    out.append(": ");
                    repr(frame, e.getValue(), out);
                }
                out.append('}');
            }
            case Undefined u -> out.append("Undefined");
            case Namespace n -> {
                out.append("<Namespace ");
                repr(frame, n.attributes(), out);
                out.append('>');
            }
            case LoopState l -> out.append("<LoopContext>");
            case Macro m -> {
                out.append("<Macro ");
                quote(m.name(), out);
                out.append('>');
            }
            case Callable c -> out.append("<function>");
            default -> out.append(scalar(value));
        }
    }

    private static void quote(String s, StringBuilder out) {
        char quote = s.indexOf('\'') >= 0 && s.indexOf('"') < 0 ? '"' : '\'';
        out.append(quote);
        s.codePoints().forEach(c -> {
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
                    } else {
                        out.append(
                                c < 0x100
                                        ? "\\x%02x".formatted(c)
                                        : c < 0x10000 ? "\\u%04x".formatted(c) : "\\U%08x".formatted(c));
                    }
                }
            }
        });
        out.append(quote);
    }

    private static boolean isPrintable(int c) {
        if (c == ' ') {
            return true;
        }
        return switch (Character.getType(c)) {
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

    /// {@return a float as Python prints it: the shortest digits, exponent from 1e16 and below 1e-4}
    static String floating(double d) {
        if (Double.isNaN(d)) {
            return "nan";
        }
        if (Double.isInfinite(d)) {
            return d > 0 ? "inf" : "-inf";
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
        return (d < 0 ? "-" : "") + mantissa + "e" + (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "")
                + Math.abs(exponent);
    }

    /// {@return Python's `format % arguments` for `%s %r %d %i %f %x %%` with width, precision and flags}
    static String format(Frame frame, String format, List<?> arguments) {
        StringBuilder out = new StringBuilder();
        int next = 0;
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%') {
                out.append(c);
                continue;
            }
            int start = ++i;
            while (i < format.length() && "-+ 0#.123456789".indexOf(format.charAt(i)) >= 0) {
                i++;
            }
            if (i == format.length() || i - start > 8) {
                throw new TemplateFailure("incomplete format '" + format + "'");
            }
            String flags = format.substring(start, i);
            char kind = format.charAt(i);
            if (kind == '%') {
                out.append('%');
                continue;
            }
            if (next == arguments.size()) {
                throw new TemplateFailure("not enough arguments for format string");
            }
            out.append(formatted(frame, flags, kind, arguments.get(next++)));
            frame.budget.string(out.length());
        }
        if (next < arguments.size()) {
            throw new TemplateFailure("not all arguments converted during string formatting");
        }
        return out.toString();
    }

    private static String formatted(Frame frame, String flags, char kind, Object value) {
        String conversion = switch (kind) {
            case 's', 'r' -> "s";
            case 'd', 'i', 'u' -> "d";
            case 'f', 'F' -> "f";
            case 'x', 'X', 'o', 'e' -> String.valueOf(kind);
            default -> throw new TemplateFailure("unsupported format character '" + kind + "'");
        };
        Object argument = switch (kind) {
            case 's' -> str(frame, value);
            case 'r' -> repr(frame, value);
            case 'f', 'F', 'e' -> PyOps.isNumber(value) ? PyOps.number(value) : wrong(kind, value);
            default -> PyOps.isNumber(value) ? (long) PyOps.number(value) : wrong(kind, value);
        };
        int width = flags.replaceAll("\\..*|[^0-9]", "").length();
        if (width > 4) {
            throw new TemplateFailure("a format's width has more than 4 digits");
        }
        try {
            return String.format(Locale.ROOT, "%" + flags + conversion, argument);
        } catch (IllegalFormatException e) {
            throw new TemplateFailure("unsupported format '%" + flags + kind + "'");
        }
    }

    private static Object wrong(char kind, Object value) {
        throw new TemplateFailure("%" + kind + " format: a number is required, not " + PyOps.type(value));
    }
}
