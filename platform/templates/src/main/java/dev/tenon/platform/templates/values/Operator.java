package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.List;

/// Python's binary operators.
public enum Operator {
    ADD("+"),
    SUBTRACT("-"),
    MULTIPLY("*"),
    DIVIDE("/"),
    FLOOR_DIVIDE("//"),
    MODULO("%"),
    POWER("**");

    private final String symbol;

    Operator(String symbol) {
        this.symbol = symbol;
    }

    /// {@return how it is written}
    public String symbol() {
        return symbol;
    }

    /// {@return the operator's result}
    public Object apply(Budget budget, Object a, Object b) {
        Values.used(a);
        Values.used(b);
        if (Numbers.is(a) && Numbers.is(b)) {
            return Numbers.compute(this, a, b);
        }
        if (this == ADD && a instanceof String x && b instanceof String y) {
            budget.string((long) x.length() + y.length());
            return x.concat(y);
        }
        if (this == ADD && a instanceof List<?> x && b instanceof List<?> y && a instanceof Tuple == b instanceof Tuple) {
            budget.step((long) x.size() + y.size());
            List<Object> all = new ArrayList<>(x.size() + y.size());
            all.addAll(x);
            all.addAll(y);
            return a instanceof Tuple ? new Tuple(all) : all;
        }
        if (this == MULTIPLY && Numbers.isInteger(b) && (a instanceof String || a instanceof List)) {
            return repeat(budget, a, Numbers.toLong(b));
        }
        if (this == MULTIPLY && Numbers.isInteger(a) && (b instanceof String || b instanceof List)) {
            return repeat(budget, b, Numbers.toLong(a));
        }
        if (this == MODULO && a instanceof String format) {
            return Format.percent(budget, format, b);
        }
        if (this == ADD && (a instanceof String || a instanceof List)) {
            String type = Values.type(a);
            throw new TemplateFailure(
                    "can only concatenate " + type + " (not \"" + Values.type(b) + "\") to " + type);
        }
        throw new TemplateFailure("unsupported operand type(s) for " + symbol + ": '" + Values.type(a) + "' and '"
                + Values.type(b) + "'");
    }

    private static Object repeat(Budget budget, Object value, long times) {
        long n = Math.max(0, times);
        if (value instanceof String s) {
            budget.string(s.isEmpty() ? 0 : n > Budget.MAX_LENGTH ? n : n * s.length());
            return s.isEmpty() ? "" : s.repeat((int) n);
        }
        List<?> items = (List<?>) value;
        budget.step(items.isEmpty() ? 0 : n > Budget.MAX_STEPS ? n : n * items.size());
        List<Object> all = new ArrayList<>();
        for (long i = 0; i < n && !items.isEmpty(); i++) {
            all.addAll(items);
        }
        return value instanceof Tuple ? new Tuple(all) : all;
    }

    /// {@return a number's negative}
    public static Object negate(Object value) {
        return Numbers.negate(value);
    }
}
