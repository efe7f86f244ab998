package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
import java.math.RoundingMode;

/// The filters `int`, `float` and `round`.
final class Conversions {
    private Conversions() {}

    /// {@return a value as a whole number, or the default}
    static Object toInteger(Object value, Object otherwise, int base) {
        Values.used(value);
        if (value instanceof String s) {
            String text = Strings.strip(s, null, true, true);
            try {
                String digits = text.replace("_", "");
                return Long.parseLong(base == 10 ? digits : withoutPrefix(digits, base), Math.clamp(base, 2, 36));
            } catch (NumberFormatException e) {
                Double d = parsed(text);
                return d == null ? otherwise : whole(d, otherwise);
            }
        }
        if (value instanceof Double d) {
            return whole(d, otherwise);
        }
        return Numbers.is(value) ? (Object) Numbers.toLong(value) : otherwise;
    }

    private static Object whole(double d, Object otherwise) {
        return Double.isNaN(d) || Double.isInfinite(d) ? otherwise : (Object) (long) d;
    }

    private static String withoutPrefix(String s, int base) {
        int sign = s.startsWith("-") || s.startsWith("+") ? 1 : 0;
        String prefix = base == 16 ? "0x" : base == 8 ? "0o" : base == 2 ? "0b" : "-";
        return s.regionMatches(true, sign, prefix, 0, 2) ? s.substring(0, sign) + s.substring(sign + 2) : s;
    }

    /// {@return a value as a float, or the default}
    static Object toFloat(Object value, Object otherwise) {
        Values.used(value);
        if (value instanceof String s) {
            Double d = parsed(Strings.strip(s, null, true, true));
            return d == null ? otherwise : d;
        }
        return Numbers.is(value) ? (Object) Numbers.toDouble(value) : otherwise;
    }

    private static Double parsed(String s) {
        return s.length() < 400 && s.matches("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?")
                ? Double.valueOf(s)
                : null;
    }

    /// {@return a number rounded to digits after the point; the method is `common`, `ceil` or `floor`}
    static Object round(Object value, int precision, Object method) {
        Values.used(value);
        if (!Numbers.is(value)) {
            throw new TemplateFailure("round needs a number, not " + Values.type(value));
        }
        RoundingMode mode = method.equals("ceil")
                ? RoundingMode.CEILING
                : method.equals("floor") ? RoundingMode.FLOOR : RoundingMode.HALF_EVEN;
        int digits = Math.clamp(precision, -18, 300);
        if (Numbers.isInteger(value) && mode == RoundingMode.HALF_EVEN) {
            BigDecimal whole = BigDecimal.valueOf(Numbers.toLong(value));
            return digits >= 0 ? Numbers.toLong(value) : whole.setScale(digits, mode).longValue();
        }
        double d = Numbers.toDouble(value);
        return Double.isNaN(d) || Double.isInfinite(d)
                ? d
                : new BigDecimal(d).setScale(digits, mode).doubleValue();
    }
}
