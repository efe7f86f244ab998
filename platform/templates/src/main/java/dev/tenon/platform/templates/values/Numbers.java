package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/// Floats as Python writes them.
final class Numbers {
    private Numbers() {}

    /// {@return the shortest digits that stand for a float, with an exponent from 1e16 and below
    ///     1e-4}
    static String repr(double d) {
        if (Double.isNaN(d) || Double.isInfinite(d)) {
            return special(d);
        }
        if (d == 0) {
            return 1 / d < 0 ? "-0.0" : "0.0";
        }
        BigDecimal digits = new BigDecimal(Double.toString(d)).stripTrailingZeros();
        int exponent = digits.precision() - digits.scale() - 1;
        if (exponent >= -4 && exponent < 16) {
            return digits.scale() > 0 ? digits.toPlainString() : digits.toPlainString() + ".0";
        }
        return scientific(digits, digits.precision() - 1);
    }

    private static String special(double d) {
        return Double.isNaN(d) ? "nan" : d > 0 ? "inf" : "-inf";
    }

    /// {@return a number with so many digits after the point}
    static String fixed(double d, int digits) {
        if (Double.isNaN(d) || Double.isInfinite(d)) {
            return special(d);
        }
        String text = new BigDecimal(d).setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
        return negative(d, text);
    }

    /// {@return a number with an exponent and so many digits after the point}
    static String exponent(double d, int digits) {
        if (Double.isNaN(d) || Double.isInfinite(d)) {
            return special(d);
        }
        return negative(
                d, scientific(new BigDecimal(d).round(new MathContext(digits + 1, RoundingMode.HALF_EVEN)), digits));
    }

    /// {@return a number with so many digits, with an exponent where it is large or small}
    static String general(double d, int digits, boolean keepsZeros) {
        if (Double.isNaN(d) || Double.isInfinite(d)) {
            return special(d);
        }
        int precision = Math.max(1, digits);
        BigDecimal rounded = new BigDecimal(d).round(new MathContext(precision, RoundingMode.HALF_EVEN));
        int exponent = d == 0 ? 0 : rounded.precision() - rounded.scale() - 1;
        boolean plain = exponent >= -4 && exponent < precision;
        if (!keepsZeros) {
            rounded = d == 0 ? BigDecimal.ZERO : rounded.stripTrailingZeros();
            String text = plain ? rounded.toPlainString() : scientific(rounded, rounded.precision() - 1);
            return negative(d, text);
        }
        return negative(
                d,
                plain
                        ? rounded.setScale(precision - 1 - exponent, RoundingMode.HALF_EVEN)
                                .toPlainString()
                        : scientific(rounded, precision - 1));
    }

    /// Zero keeps its sign.
    private static String negative(double d, String text) {
        return (d < 0 || 1 / d < 0) && !text.startsWith("-") ? "-" + text : text;
    }

    private static String scientific(BigDecimal number, int digits) {
        String all = number.unscaledValue().abs().toString();
        int exponent = number.signum() == 0 ? 0 : number.precision() - number.scale() - 1;
        StringBuilder text = new StringBuilder(number.signum() < 0 ? "-" : "").append(all.charAt(0));
        if (digits > 0) {
            text.append('.').append(all, 1, Math.min(all.length(), digits + 1));
            text.repeat('0', Math.max(0, digits + 1 - all.length()));
        }
        return text.append(exponent < 0 ? "e-" : "e+")
                .append(Math.abs(exponent) < 10 ? "0" : "")
                .append(Math.abs(exponent))
                .toString();
    }
}
