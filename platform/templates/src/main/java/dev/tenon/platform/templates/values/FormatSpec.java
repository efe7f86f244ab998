package dev.tenon.platform.templates.values;

import java.math.BigInteger;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// One value in Python's format specification:
/// `[[fill]align][sign][#][0][width][,][.precision][type]`.
final class FormatSpec {
    private static final Pattern SPEC = Pattern.compile(
            "(?:(.)?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\\d{1,5})?([,_])?(?:\\.(\\d{1,5}))?([bcdeEfFgGnosxX%])?",
            Pattern.DOTALL);
    private static final int MAX_PRECISION = 1000;

    private final Matcher m;
    private final String spec;
    private final String type;

    private FormatSpec(String spec) {
        this.spec = spec;
        m = SPEC.matcher(spec);
        if (!m.matches()) {
            throw new TemplateFailure("Invalid format specifier '" + spec + "'");
        }
        type = m.group(10) == null ? "" : m.group(10);
    }

    /// {@return a value as the specification says}
    static Text format(Budget budget, Object value, String spec) {
        if (spec.isEmpty()) {
            return Text.str(budget, value);
        }
        FormatSpec format = new FormatSpec(spec);
        Values.used(value);
        if (value instanceof Text text) {
            return format.text(budget, text);
        }
        if (!Values.isNumber(value)) {
            throw new TemplateFailure("unsupported format string passed to " + Values.type(value) + ".__format__");
        }
        return format.number(budget, value);
    }

    private int precision(int otherwise) {
        int precision = m.group(9) == null ? otherwise : Integer.parseInt(m.group(9));
        if (precision > MAX_PRECISION) {
            throw new TemplateFailure("precision too big");
        }
        return precision;
    }

    private TemplateFailure unknown(Object value) {
        return new TemplateFailure(
                "Unknown format code '" + type + "' for object of type '" + Values.type(value) + "'");
    }

    private Text text(Budget budget, Text text) {
        if (!type.isEmpty() && !type.equals("s")) {
            throw unknown(text);
        }
        if (m.group(3) != null || m.group(8) != null || "=".equals(m.group(2))) {
            throw new TemplateFailure("Invalid format specifier '" + spec + "' for object of type 'str'");
        }
        Text cut = m.group(9) == null ? text : text.slice(0, Math.min(text.length(), Integer.parseInt(m.group(9))));
        return padded(budget, Text.EMPTY, cut, "<");
    }

    private Text number(Budget budget, Object value) {
        boolean floating = value instanceof Double || !type.isEmpty() && "eEfFgG%".contains(type);
        String digits = floating ? floating(value) : integer(value);
        String sign =
                digits.startsWith("-") ? "-" : m.group(3) == null || m.group(3).equals("-") ? "" : m.group(3);
        digits = digits.startsWith("-") ? digits.substring(1) : digits;
        String prefix = m.group(5) != null && !type.isEmpty() && "box".contains(type.toLowerCase(Locale.ROOT))
                ? "0" + type
                : "";
        if (m.group(8) != null) {
            digits = grouped(digits);
        }
        return padded(budget, Text.of(sign + prefix), Text.of(digits), ">");
    }

    private String floating(Object value) {
        double d = Values.toDouble(value);
        String text = switch (type) {
            case "e", "E" -> Numbers.exponent(d, precision(6));
            case "f", "F" -> Numbers.fixed(d, precision(6));
            case "g", "G", "n" -> Numbers.general(d, precision(6), m.group(5) != null);
            case "%" -> Numbers.fixed(d * 100, precision(6)) + "%";
            case "" -> {
                if (m.group(9) == null) {
                    yield Numbers.repr(d);
                }
                String general = Numbers.general(d, precision(6), false);
                yield general.matches("-?\\d+") ? general + ".0" : general;
            }
            default -> throw unknown(value);
        };
        return !type.isEmpty() && Character.isUpperCase(type.charAt(0)) ? text.toUpperCase(Locale.ROOT) : text;
    }

    private String integer(Object value) {
        if (m.group(9) != null) {
            throw new TemplateFailure("Precision not allowed in integer format specifier");
        }
        BigInteger n = BigInteger.valueOf(Values.toLong(value));
        return switch (type) {
            case "", "d", "n" -> n.toString();
            case "b" -> n.toString(2);
            case "o" -> n.toString(8);
            case "x" -> n.toString(16);
            case "X" -> n.toString(16).toUpperCase(Locale.ROOT);
            case "c" -> {
                if (n.signum() < 0 || n.bitLength() > 21 || !Character.isValidCodePoint(n.intValue())) {
                    throw new TemplateFailure("%c arg not in range(0x110000)");
                }
                yield Character.toString(n.intValue());
            }
            default -> throw unknown(value);
        };
    }

    private String grouped(String digits) {
        int end = 0;
        while (end < digits.length() && Character.digit(digits.charAt(end), 16) >= 0) {
            end++;
        }
        int size = !type.isEmpty() && "boxX".contains(type) ? 4 : 3;
        StringBuilder out = new StringBuilder(digits);
        for (int at = end - size; at > 0; at -= size) {
            out.insert(at, m.group(8));
        }
        return out.toString();
    }

    private Text padded(Budget budget, Text sign, Text body, String usual) {
        int width = m.group(7) == null ? 0 : Integer.parseInt(m.group(7));
        boolean zeros = m.group(6) != null && m.group(2) == null;
        String align = m.group(2) != null ? m.group(2) : zeros && usual.equals(">") ? "=" : usual;
        String fill = m.group(1) != null ? m.group(1) : m.group(6) != null ? "0" : " ";
        int missing = Math.max(0, width - sign.length() - body.length());
        budget.string((long) missing + body.toString().length());
        int before = align.equals("<") ? 0 : align.equals("^") ? missing / 2 : missing;
        Text left = Text.of(fill.repeat(before));
        Text right = Text.of(fill.repeat(missing - before));
        return align.equals("=")
                ? sign.concat(left).concat(body)
                : left.concat(sign).concat(body).concat(right);
    }
}
