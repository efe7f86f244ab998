package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Pattern;

/// The filters that make numbers, or text of numbers.
final class NumberFilters {
    private static final Pattern FLOAT =
            Pattern.compile("[+-]?(\\d+(_\\d+)*\\.?(\\d+(_\\d+)*)?|\\.\\d+(_\\d+)*)([eE][+-]?\\d+(_\\d+)*)?");
    private static final Pattern SPECIAL = Pattern.compile("(?i)[+-]?(inf|infinity|nan)");
    private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9a-zA-Z]+(_[0-9a-zA-Z]+)*");
    private static final String UNITS = "kMGTPEZY";
    private static final int LONGEST = 400;

    private NumberFilters() {}

    static Object apply(Budget budget, String name, Object value, Arguments args) {
        return switch (name) {
            case "abs" -> {
                if (!Values.isNumber(value)) {
                    Values.used(value);
                    throw new TemplateFailure("bad operand type for abs(): '" + Values.type(value) + "'");
                }
                yield Values.toDouble(value) < 0
                        ? Operators.negate(value)
                        : value instanceof Boolean ? (Object) Values.toLong(value) : value;
            }
            case "filesizeformat" -> fileSize(value, args.flag(0, "binary"));
            case "float" -> toFloat(value, args.get(0, "default", 0.0));
            case "int" -> toInteger(value, args.get(0, "default", 0L), args.integer(1, "base", 10));
            default -> {
                Text method = Text.need(args.get(1, "method", Text.of("common")), "method");
                yield round(value, args.integer(0, "precision", 0), method.toString());
            }
        };
    }

    private static Object toInteger(Object value, Object otherwise, int base) {
        if (value instanceof Text text) {
            String digits = stripped(text);
            boolean prefix = base != 10 && digits.matches("[+-]?0[xXoObB].+");
            String bare = prefix ? digits.replaceFirst("0[xXoObB]_?", "") : digits;
            int radix = base != 0
                    ? base
                    : !prefix ? 10 : digits.matches(".*[xX].*") ? 16 : digits.matches(".*[oO].*") ? 8 : 2;
            try {
                return INTEGER.matcher(bare).matches() && radix >= 2 && radix <= 36
                        ? Long.valueOf(Long.parseLong(bare.replace("_", ""), radix))
                        : toInteger(toFloat(text, Double.NaN), otherwise, base);
            } catch (NumberFormatException e) {
                return toInteger(toFloat(text, Double.NaN), otherwise, base);
            }
        }
        Values.used(value);
        if (value instanceof Double d) {
            return d.isNaN() || d.isInfinite() ? otherwise : (Object) (long) (double) d;
        }
        return Values.isInteger(value) ? (Object) Values.toLong(value) : otherwise;
    }

    private static String stripped(Text text) {
        String s = Splits.strip(text, Values.NONE, true, true).toString();
        return s.length() < LONGEST ? s : "";
    }

    private static Object toFloat(Object value, Object otherwise) {
        Values.used(value);
        if (value instanceof Text text) {
            String s = stripped(text);
            if (SPECIAL.matcher(s).matches()) {
                boolean number = s.toLowerCase(Locale.ROOT).endsWith("nan");
                return number ? Double.NaN : s.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
            }
            return FLOAT.matcher(s).matches() ? Double.valueOf(s.replace("_", "")) : otherwise;
        }
        return Values.isNumber(value) ? (Object) Values.toDouble(value) : otherwise;
    }

    private static Object round(Object value, int precision, String method) {
        Values.used(value);
        if (!method.matches("common|ceil|floor")) {
            throw new TemplateFailure("method must be common, ceil or floor");
        }
        if (!Values.isNumber(value)) {
            throw new TemplateFailure("round needs a number, not " + Values.type(value));
        }
        double d = Values.toDouble(value);
        if (method.equals("common")) {
            if (Values.isInteger(value)) {
                return precision >= 0
                        ? Values.toLong(value)
                        : rounded(d, precision).longValue();
            }
            return Double.isNaN(d) || Double.isInfinite(d)
                    ? d
                    : rounded(d, precision).doubleValue();
        }
        double power = Math.pow(10, precision);
        return (method.equals("ceil") ? Math.ceil(d * power) : Math.floor(d * power)) / power;
    }

    private static BigDecimal rounded(double d, int precision) {
        return new BigDecimal(d).setScale(Math.clamp(precision, -18, 300), RoundingMode.HALF_EVEN);
    }

    private static Text fileSize(Object value, boolean binary) {
        if (!(toFloat(value, Values.NONE) instanceof Double bytes)) {
            throw new TemplateFailure("could not convert " + Values.type(value) + " to float");
        }
        int base = binary ? 1024 : 1000;
        if (bytes == 1) {
            return Text.of("1 Byte");
        }
        if (bytes < base) {
            return Text.of((long) (double) bytes + " Bytes");
        }
        int i = 0;
        while (i < UNITS.length() - 1 && bytes >= Math.pow(base, i + 2)) {
            i++;
        }
        String unit = binary ? UNITS.substring(i, i + 1).toUpperCase(Locale.ROOT) + "iB" : UNITS.charAt(i) + "B";
        return Text.of(Numbers.fixed(base * bytes / Math.pow(base, i + 2), 1) + " " + unit);
    }
}
