package dev.tenon.platform.grammar.schema;

import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.ExprPool;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/// How numbers are written that lie between bounds or are multiples of another one. Where there is
/// a bound or divisor, they are written without exponent.
final class NumberTexts {
    private static final int MOST_DIVISOR = 100_000_000;
    private static final int MOST_DECIMALS = 9;
    /// Digits before and after the point, where no bound says how many: a model may repeat them
    /// without end.
    private static final int MOST_DIGITS = 60;

    private final ExprPool pool;
    private final Expr digit;
    private final Expr digits;
    private final Expr minus;
    private final Expr point;
    /// A fraction, or none.
    private final Expr anyFraction;

    NumberTexts(ExprPool pool) {
        this.pool = pool;
        this.digit = digit(0, 9);
        this.digits = pool.repeat(digit, 0, MOST_DIGITS - 1);
        this.minus = pool.literal("-");
        this.point = pool.literal(".");
        this.anyFraction = pool.optional(pool.concat(point, digit, digits));
    }

    private Expr digit(int from, int to) {
        return from > to ? pool.nothing() : pool.bytes('0' + from, '0' + to);
    }

    private Expr natural() {
        return pool.or(digit(0, 0), pool.concat(digit(1, 9), digits));
    }

    Expr integer() {
        return pool.concat(pool.optional(minus), natural());
    }

    Expr decimal() {
        return pool.concat(integer(), anyFraction);
    }

    Expr any() {
        Expr sign = pool.optional(pool.or(minus, pool.literal("+")));
        Expr exponent = pool.concat(pool.or(pool.literal("e"), pool.literal("E")), sign, pool.repeat(digit, 1, 3));
        return pool.concat(decimal(), pool.optional(exponent));
    }

    /// {@return numbers of at least a bound, or more than that}
    Expr atLeast(BigDecimal bound, boolean more) {
        if (bound.signum() < 0) {
            return pool.or(
                    pool.concat(natural(), anyFraction), pool.concat(minus, magnitudeAtMost(bound.negate(), more)));
        }
        return magnitudeAtLeast(bound, more);
    }

    /// {@return numbers of at most a bound, or less than that}
    Expr atMost(BigDecimal bound, boolean less) {
        if (bound.signum() < 0 || bound.signum() == 0 && less) {
            return pool.concat(minus, magnitudeAtLeast(bound.negate(), less));
        }
        return pool.or(pool.concat(minus, natural(), anyFraction), magnitudeAtMost(bound, less));
    }

    private static String[] split(BigDecimal bound) {
        String[] parts = bound.toPlainString().split("\\.");
        String fraction = parts.length == 1 ? "" : parts[1].replaceFirst("0+$", "");
        return new String[] {parts[0], fraction};
    }

    private Expr magnitudeAtLeast(BigDecimal bound, boolean more) {
        String[] parts = split(bound);
        int length = parts[0].length();
        Expr longer = pool.concat(digit(1, 9), pool.repeat(digit, length, Math.max(length, MOST_DIGITS)), anyFraction);
        return pool.or(longer, sameLength(parts[0], true), pool.concat(pool.literal(parts[0]), above(parts[1], more)));
    }

    private Expr magnitudeAtMost(BigDecimal bound, boolean less) {
        String[] parts = split(bound);
        int length = parts[0].length();
        Expr shorter = length == 1
                ? pool.nothing()
                : pool.concat(
                        pool.or(digit(0, 0), pool.concat(digit(1, 9), pool.repeat(digit, 0, length - 2))), anyFraction);
        return pool.or(
                shorter, sameLength(parts[0], false), pool.concat(pool.literal(parts[0]), below(parts[1], less)));
    }

    /// {@return numbers whose part before the point has as many digits as another one, and is
    ///     greater, or less}
    private Expr sameLength(String whole, boolean greater) {
        Expr all = pool.nothing();
        for (int i = 0; i < whole.length(); i++) {
            int at = whole.charAt(i) - '0';
            int first = i == 0 && whole.length() > 1 ? 1 : 0;
            Expr other = greater ? digit(at + 1, 9) : digit(first, at - 1);
            int rest = whole.length() - i - 1;
            all = pool.or(
                    all,
                    pool.concat(
                            pool.literal(whole.substring(0, i)), other, pool.repeat(digit, rest, rest), anyFraction));
        }
        return all;
    }

    /// {@return fractions of at least another one, which does not end with 0, or more than that}
    private Expr above(String fraction, boolean more) {
        Expr notZero = pool.concat(pool.repeat(digit(0, 0), 0, MOST_DIGITS), digit(1, 9), digits);
        if (fraction.isEmpty()) {
            return more ? pool.concat(point, notZero) : anyFraction;
        }
        Expr rest = more ? notZero : digits;
        for (int i = fraction.length() - 1; i >= 0; i--) {
            int at = fraction.charAt(i) - '0';
            rest = pool.or(pool.concat(digit(at + 1, 9), digits), pool.concat(digit(at, at), rest));
        }
        return pool.concat(point, rest);
    }

    /// {@return fractions of at most another one, which does not end with 0, or less than that}
    private Expr below(String fraction, boolean less) {
        Expr zeros = pool.repeat(digit(0, 0), 0, MOST_DIGITS);
        if (fraction.isEmpty()) {
            return less ? pool.nothing() : pool.optional(pool.concat(point, digit(0, 0), zeros));
        }
        Expr rest = less ? pool.nothing() : zeros;
        for (int i = fraction.length() - 1; i >= 0; i--) {
            int at = fraction.charAt(i) - '0';
            boolean last = i == fraction.length() - 1;
            rest = pool.or(
                    pool.concat(digit(0, at - 1), digits),
                    pool.concat(digit(at, at), last ? rest : pool.optional(rest)));
        }
        return pool.optional(pool.concat(point, rest));
    }

    /// {@return the ways to write a number without exponent}
    Expr equalTo(BigDecimal number) {
        String[] parts = split(number.abs());
        Expr zeros = pool.repeat(digit(0, 0), 0, MOST_DIGITS);
        Expr fraction = parts[1].isEmpty()
                ? pool.optional(pool.concat(point, digit(0, 0), zeros))
                : pool.concat(point, pool.literal(parts[1]), zeros);
        Expr sign = number.signum() == 0 ? pool.optional(minus) : number.signum() < 0 ? minus : pool.empty();
        return pool.concat(sign, pool.literal(parts[0]), fraction);
    }

    /// {@return multiples of a number; null if it is too large or has too many decimals}
    Expr multipleOf(BigDecimal divisor) {
        BigDecimal shortest = divisor.stripTrailingZeros();
        int decimals = Math.max(0, shortest.scale());
        BigInteger units = shortest.movePointRight(decimals).toBigIntegerExact();
        if (units.signum() <= 0
                || units.bitLength() > 27
                || units.intValue() > MOST_DIVISOR
                || decimals > MOST_DECIMALS) {
            return null;
        }
        Expr zeros = pool.repeat(digit(0, 0), 0, MOST_DIGITS);
        List<Expr> ways = new ArrayList<>();
        for (int places = 0; places <= decimals; places++) {
            // So many places as an integer are a multiple of what is left of the divisor without the other ones.
            int rest = units.divide(units.gcd(BigInteger.TEN.pow(decimals - places)))
                    .intValue();
            Expr fraction = places == 0 ? pool.empty() : pool.concat(point, pool.repeat(digit, places, places));
            Expr multiples = pool.and(pool.concat(integer(), fraction), pool.multiple(rest, 0));
            ways.add(places == decimals && places > 0 ? pool.concat(multiples, zeros) : multiples);
        }
        return pool.or(ways);
    }
}
