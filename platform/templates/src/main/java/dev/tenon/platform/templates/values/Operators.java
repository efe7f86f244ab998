package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.List;

/// Python's operators by their symbols. Whole numbers have 64 bits; booleans count as 0 and 1.
public final class Operators {
    private Operators() {}

    /// {@return whether a comparison holds}
    public static boolean compare(Budget budget, String operator, Object a, Object b) {
        return (Boolean) binary(budget, operator, a, b);
    }

    /// {@return the result of an operator}
    public static Object binary(Budget budget, String operator, Object a, Object b) {
        return switch (operator) {
            case "==" -> Values.equal(budget, a, b);
            case "!=" -> !Values.equal(budget, a, b);
            case "in" -> Values.contains(budget, b, a);
            case "not in" -> !Values.contains(budget, b, a);
            case "<" -> order(budget, operator, a, b) < 0;
            case "<=" -> order(budget, operator, a, b) <= 0;
            case ">" -> order(budget, operator, a, b) > 0;
            case ">=" -> order(budget, operator, a, b) >= 0;
            default -> compute(budget, operator, a, b);
        };
    }

    /// {@return negative, 0 or positive as a is less than, equal to or greater than b}
    static int order(Budget budget, String operator, Object a, Object b) {
        budget.step(1);
        if (Values.isNumber(a) && Values.isNumber(b)) {
            return a instanceof Double || b instanceof Double
                    ? Double.compare(Values.toDouble(a), Values.toDouble(b))
                    : Long.compare(Values.toLong(a), Values.toLong(b));
        }
        if (a instanceof Text x && b instanceof Text y) {
            return x.compareTo(y);
        }
        if (isList(a) && isList(b) && a instanceof Tuple == b instanceof Tuple) {
            List<?> x = (List<?>) a;
            List<?> y = (List<?>) b;
            for (int i = 0; i < Math.min(x.size(), y.size()); i++) {
                if (!Values.equal(budget, x.get(i), y.get(i))) {
                    return order(budget, operator, x.get(i), y.get(i));
                }
            }
            return Integer.compare(x.size(), y.size());
        }
        Values.used(a);
        Values.used(b);
        throw new TemplateFailure("'" + operator + "' not supported between instances of '" + Values.type(a) + "' and '"
                + Values.type(b) + "'");
    }

    private static Object compute(Budget budget, String operator, Object a, Object b) {
        Values.used(a);
        Values.used(b);
        if (Values.isNumber(a) && Values.isNumber(b)) {
            return arithmetic(operator, a, b);
        }
        if (operator.equals("+") && a instanceof Text x && b instanceof Text y) {
            budget.string((long) x.toString().length() + y.toString().length());
            return x.concat(y);
        }
        boolean lists = isList(a) && isList(b) && a instanceof Tuple == b instanceof Tuple;
        if (operator.equals("+") && lists) {
            List<Object> all = new ArrayList<>(Values.iterate(budget, a));
            all.addAll(Values.iterate(budget, b));
            return a instanceof Tuple ? new Tuple(all) : all;
        }
        if (operator.equals("*") && Values.isInteger(a) && (b instanceof Text || isList(b))) {
            return compute(budget, operator, b, a);
        }
        if (operator.equals("*") && Values.isInteger(b) && (a instanceof Text || isList(a))) {
            return repeat(budget, a, Math.max(0, Values.toLong(b)));
        }
        if (operator.equals("%") && a instanceof Text format) {
            return Percent.format(budget, format, b);
        }
        throw new TemplateFailure("unsupported operand type(s) for " + operator + ": '" + Values.type(a) + "' and '"
                + Values.type(b) + "'");
    }

    private static boolean isList(Object value) {
        return value instanceof List && !(value instanceof Range);
    }

    private static Object repeat(Budget budget, Object value, long n) {
        if (value instanceof Text text) {
            budget.string(text.isEmpty() ? 0 : Math.max(n, n * text.toString().length()));
            return text.isEmpty() ? text : text.repeat((int) n);
        }
        List<Object> all = new ArrayList<>();
        for (long i = 0; i < n && Values.truth(value); i++) {
            all.addAll(Values.iterate(budget, value));
        }
        return value instanceof Tuple ? new Tuple(all) : all;
    }

    private static Object arithmetic(String operator, Object a, Object b) {
        boolean power = operator.equals("**");
        boolean divides = operator.equals("/") || operator.equals("//") || operator.equals("%");
        if (divides && Values.toDouble(b) == 0 || power && Values.toDouble(a) == 0 && Values.toDouble(b) < 0) {
            throw new TemplateFailure("division by zero");
        }
        boolean whole = Values.isInteger(a) && Values.isInteger(b) && !(power && Values.toLong(b) < 0);
        if (!whole || operator.equals("/")) {
            double x = Values.toDouble(a);
            double y = Values.toDouble(b);
            double remainder = x % y;
            double modulo = remainder != 0 && remainder < 0 != y < 0 ? remainder + y : remainder;
            return switch (operator) {
                case "+" -> x + y;
                case "-" -> x - y;
                case "*" -> x * y;
                case "/" -> x / y;
                case "//" -> Math.floor((x - modulo) / y);
                case "%" -> modulo;
                default -> Math.pow(x, y);
            };
        }
        long x = Values.toLong(a);
        long y = Values.toLong(b);
        try {
            return switch (operator) {
                case "+" -> Math.addExact(x, y);
                case "-" -> Math.subtractExact(x, y);
                case "*" -> Math.multiplyExact(x, y);
                case "//" -> Math.floorDivExact(x, y);
                case "%" -> Math.floorMod(x, y);
                default -> Math.powExact(x, (int) Math.min(y, Integer.MAX_VALUE));
            };
        } catch (ArithmeticException e) {
            throw new TemplateFailure("a whole number needs more than 64 bits");
        }
    }

    /// {@return a number's negative}
    public static Object negate(Object value) {
        Values.used(value);
        if (!Values.isNumber(value)) {
            throw new TemplateFailure("bad operand type for unary -: '" + Values.type(value) + "'");
        }
        return value instanceof Double d ? (Object) (-d) : arithmetic("-", 0L, value);
    }
}
