package dev.tenon.platform.templates.values;

/// Python's numbers: whole numbers of 64 bits, floats, and booleans, which count as 0 and 1.
final class Numbers {
    private Numbers() {}

    /// {@return whether a value is a number; booleans are, as in Python}
    static boolean is(Object value) {
        return value instanceof Long || value instanceof Double || value instanceof Boolean;
    }

    /// {@return whether a value is a whole number or boolean}
    static boolean isInteger(Object value) {
        return value instanceof Long || value instanceof Boolean;
    }

    /// {@return a number as a float}
    static double toDouble(Object value) {
        return value instanceof Double d ? d : toLong(value);
    }

    /// {@return a whole number or boolean as a long}
    static long toLong(Object value) {
        return value instanceof Boolean b ? (b ? 1 : 0) : (Long) value;
    }

    /// {@return an argument that must be a whole number, limited to 32 bits}
    static int integerArgument(Object value, String name) {
        Values.used(value);
        if (!isInteger(value)) {
            throw new TemplateFailure("'" + name + "' must be an integer, not " + Values.type(value));
        }
        return (int) Math.clamp(toLong(value), -Integer.MAX_VALUE, Integer.MAX_VALUE);
    }

    /// {@return whether two numbers are equal}
    static boolean equal(Object a, Object b) {
        return a instanceof Double || b instanceof Double ? toDouble(a) == toDouble(b) : toLong(a) == toLong(b);
    }

    /// {@return negative, 0 or positive as a is less than, equal to or greater than b}
    static int order(Object a, Object b) {
        return a instanceof Double || b instanceof Double
                ? Double.compare(toDouble(a), toDouble(b))
                : Long.compare(toLong(a), toLong(b));
    }

    /// {@return the result of an operator on two numbers}
    static Object compute(Operator operator, Object a, Object b) {
        if (operator == Operator.DIVIDE) {
            return toDouble(a) / divisor(toDouble(b));
        }
        if (a instanceof Double || b instanceof Double) {
            return floating(operator, toDouble(a), toDouble(b));
        }
        try {
            return whole(operator, toLong(a), toLong(b));
        } catch (ArithmeticException e) {
            throw new TemplateFailure("a whole number needs more than 64 bits");
        }
    }

    private static double floating(Operator operator, double x, double y) {
        return switch (operator) {
            case ADD -> x + y;
            case SUBTRACT -> x - y;
            case MULTIPLY -> x * y;
            case DIVIDE -> x / y;
            case FLOOR_DIVIDE -> Math.floor((x - modulo(x, divisor(y))) / y);
            case MODULO -> modulo(x, divisor(y));
            case POWER -> Math.pow(x == 0 && y < 0 ? divisor(x) : x, y);
        };
    }

    /// The remainder with the divisor's sign.
    private static double modulo(double x, double y) {
        double remainder = x % y;
        return remainder != 0 && remainder < 0 != y < 0 ? remainder + y : remainder;
    }

    private static Object whole(Operator operator, long x, long y) {
        return switch (operator) {
            case ADD -> Math.addExact(x, y);
            case SUBTRACT -> Math.subtractExact(x, y);
            case MULTIPLY -> Math.multiplyExact(x, y);
            case DIVIDE -> (double) x / y;
            case FLOOR_DIVIDE -> Math.floorDivExact(x, divisor(y));
            case MODULO -> Math.floorMod(x, divisor(y));
            case POWER -> power(x, y);
        };
    }

    private static Object power(long base, long exponent) {
        if (exponent < 0) {
            return Math.pow(divisor((double) base), exponent);
        }
        if (base == 0 || base == 1) {
            return exponent == 0 ? 1L : base;
        }
        if (base == -1) {
            return exponent % 2 == 0 ? 1L : -1L;
        }
        long result = 1;
        for (long i = 0; i < exponent; i++) {
            result = Math.multiplyExact(result, base);
        }
        return result;
    }

    private static double divisor(double value) {
        if (value == 0) {
            throw new TemplateFailure("division by zero");
        }
        return value;
    }

    private static long divisor(long value) {
        if (value == 0) {
            throw new TemplateFailure("division by zero");
        }
        return value;
    }

    /// {@return a number's negative}
    static Object negate(Object value) {
        Values.used(value);
        if (value instanceof Double d) {
            return -d;
        }
        if (isInteger(value)) {
            return compute(Operator.SUBTRACT, 0L, value);
        }
        throw new TemplateFailure("bad operand type for unary -: '" + Values.type(value) + "'");
    }
}
