package dev.tenon.platform.templates;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Python's operators on a template's values.
///
/// A value is a `String`, `Boolean`, `Long`, `Double`, [None], [Undefined], `List`, [PyTuple], `Map`,
/// [Namespace],
/// [LoopState] or [Callable]; nothing else ever gets in, so no template reaches a Java class.
final class PyOps {
    private PyOps() {}

    /// {@return Python's name of a value's type}
    static String type(Object value) {
        return switch (value) {
            case String s -> "str";
            case Boolean b -> "bool";
            case Long l -> "int";
            case Double d -> "float";
            case None n -> "NoneType";
            case Undefined u -> "Undefined";
            case PyTuple t -> "tuple";
            case List<?> l -> "list";
            case Map<?, ?> m -> "dict";
            case Namespace n -> "Namespace";
            case LoopState l -> "LoopContext";
            default -> "function";
        };
    }

    /// {@return whether a value counts as true}
    static boolean truth(Object value) {
        return switch (value) {
            case Boolean b -> b;
            case String s -> !s.isEmpty();
            case Long l -> l != 0;
            case Double d -> d != 0;
            case None n -> false;
            case Undefined u -> false;
            case List<?> l -> !l.isEmpty();
            case Map<?, ?> m -> !m.isEmpty();
            default -> true;
        };
    }

    /// {@return a value as a dictionary key; equal numbers are equal keys}
    static Object key(Object value) {
        return switch (value) {
            case Double d when d == Math.rint(d) && Math.abs(d) < 1e15 -> (long) (double) d;
            case Boolean b -> b;
            case String s -> s;
            case Long l -> l;
            case Double d -> d;
            case None n -> n;
            case PyTuple t -> t;
            default -> throw new TemplateFailure("unhashable type: '" + type(value) + "'");
        };
    }

    /// {@return whether two values are equal}
    static boolean equal(Frame frame, Object a, Object b) {
        frame.budget.step(1);
        if (isNumber(a) && isNumber(b)) {
            return a instanceof Double || b instanceof Double ? number(a) == number(b) : integer(a) == integer(b);
        }
        if (a instanceof List<?> x && b instanceof List<?> y) {
            if (a instanceof PyTuple != b instanceof PyTuple || x.size() != y.size()) {
                return false;
            }
            for (int i = 0; i < x.size(); i++) {
                if (!equal(frame, x.get(i), y.get(i))) {
                    return false;
                }
            }
            return true;
        }
        if (a instanceof Map<?, ?> x && b instanceof Map<?, ?> y) {
            if (x.size() != y.size()) {
                return false;
            }
            for (Map.Entry<?, ?> e : x.entrySet()) {
                Object other = y.get(e.getKey());
                if (other == null || !equal(frame, e.getValue(), other)) {
                    return false;
                }
            }
            return true;
        }
        if (a instanceof Undefined || b instanceof Undefined) {
            return a instanceof Undefined && b instanceof Undefined;
        }
        return a.equals(b);
    }

    /// {@return the outcome of one comparison}
    static boolean compare(Frame frame, String operator, Object a, Object b) {
        return switch (operator) {
            case "==" -> equal(frame, a, b);
            case "!=" -> !equal(frame, a, b);
            case "in" -> contains(frame, b, a);
            case "not in" -> !contains(frame, b, a);
            case "<" -> order(frame, a, b, operator) < 0;
            case "<=" -> order(frame, a, b, operator) <= 0;
            case ">" -> order(frame, a, b, operator) > 0;
            default -> order(frame, a, b, operator) >= 0;
        };
    }

    /// {@return negative, 0 or positive as a is less than, equal to or greater than b}
    static int order(Frame frame, Object a, Object b, String operator) {
        frame.budget.step(1);
        if (isNumber(a) && isNumber(b)) {
            return a instanceof Double || b instanceof Double
                    ? Double.compare(number(a), number(b))
                    : Long.compare(integer(a), integer(b));
        }
        if (a instanceof String x && b instanceof String y) {
            return PyText.compare(x, y);
        }
        if (a instanceof List<?> x && b instanceof List<?> y && type(a).equals(type(b))) {
            for (int i = 0; i < Math.min(x.size(), y.size()); i++) {
                if (!equal(frame, x.get(i), y.get(i))) {
                    return order(frame, x.get(i), y.get(i), operator);
                }
            }
            return Integer.compare(x.size(), y.size());
        }
        used(a);
        used(b);
        throw new TemplateFailure(
                "'" + operator + "' not supported between instances of '" + type(a) + "' and '" + type(b) + "'");
    }

    /// {@return whether a container holds a value}
    static boolean contains(Frame frame, Object container, Object value) {
        switch (container) {
            case String s -> {
                used(value);
                if (!(value instanceof String part)) {
                    throw new TemplateFailure("'in <string>' requires string as left operand, not " + type(value));
                }
                frame.budget.step(s.length() / 64);
                return s.contains(part);
            }
            case Map<?, ?> m -> {
                return !(value instanceof Undefined) && m.containsKey(key(value));
            }
            default -> {
                for (Object item : iterate(frame, container)) {
                    if (equal(frame, item, value)) {
                        return true;
                    }
                }
                return false;
            }
        }
    }

    /// {@return the items of a value, as a loop sees them}
    static List<Object> iterate(Frame frame, Object value) {
        return switch (value) {
            case List<?> l -> {
                frame.budget.step(l.size());
                yield new ArrayList<>(l);
            }
            case Map<?, ?> m -> {
                frame.budget.step(m.size());
                yield new ArrayList<>(m.keySet());
            }
            case String s -> PyText.characters(frame, s);
            case Undefined u -> List.of();
            default -> throw new TemplateFailure("'" + type(value) + "' object is not iterable");
        };
    }

    /// {@return a binary operator's result}
    static Object binary(Frame frame, String operator, Object a, Object b) {
        used(a);
        used(b);
        if (isNumber(a) && isNumber(b)) {
            return arithmetic(operator, a, b);
        }
        if (operator.equals("+") && a instanceof String x && b instanceof String y) {
            frame.budget.string((long) x.length() + y.length());
            return x + y;
        }
        if (operator.equals("+") && a instanceof List<?> x && b instanceof List<?> y && type(a).equals(type(b))) {
            frame.budget.step((long) x.size() + y.size());
            List<Object> all = new ArrayList<>(x);
            all.addAll(y);
            return a instanceof PyTuple ? new PyTuple(all) : all;
        }
        if (operator.equals("*") && (a instanceof Long || b instanceof Long)) {
            Object repeated = a instanceof Long ? repeat(frame, b, (Long) a) : repeat(frame, a, (Long) b);
            if (repeated != null) {
                return repeated;
            }
        }
        if (operator.equals("%") && a instanceof String format) {
            return PyText.format(frame, format, b instanceof PyTuple t ? t : List.of(b));
        }
        throw new TemplateFailure(
                "unsupported operand type(s) for " + operator + ": '" + type(a) + "' and '" + type(b) + "'");
    }

    private static Object repeat(Frame frame, Object value, long times) {
        long n = Math.max(0, times);
        if (value instanceof String s) {
            frame.budget.string(s.isEmpty() ? 0 : n > Budget.MAX_LENGTH ? Long.MAX_VALUE / 2 : n * s.length());
            return s.isEmpty() ? "" : s.repeat((int) n);
        }
        if (value instanceof List<?> l) {
            frame.budget.step(l.isEmpty() ? 0 : n > Budget.MAX_STEPS ? n : n * l.size());
            List<Object> all = new ArrayList<>();
            for (long i = 0; i < n && !l.isEmpty(); i++) {
                all.addAll(l);
            }
            return value instanceof PyTuple ? new PyTuple(all) : all;
        }
        return null;
    }

    private static Object arithmetic(String operator, Object a, Object b) {
        try {
            if (operator.equals("/")) {
                return number(a) / divisor(number(b));
            }
            if (a instanceof Double || b instanceof Double) {
                double x = number(a);
                double y = number(b);
                return switch (operator) {
                    case "+" -> x + y;
                    case "-" -> x - y;
                    case "*" -> x * y;
                    case "//" -> Math.floor(x / divisor(y));
                    case "%" -> x - Math.floor(x / divisor(y)) * y;
                    default -> Math.pow(x, y);
                };
            }
            long x = integer(a);
            long y = integer(b);
            return switch (operator) {
                case "+" -> Math.addExact(x, y);
                case "-" -> Math.subtractExact(x, y);
                case "*" -> Math.multiplyExact(x, y);
                case "//" -> Math.floorDiv(x, (long) divisor(y));
                case "%" -> Math.floorMod(x, (long) divisor(y));
                default -> power(x, y);
            };
        } catch (ArithmeticException e) {
            throw new TemplateFailure("a whole number needs more than 64 bits");
        }
    }

    private static Object power(long base, long exponent) {
        if (exponent < 0) {
            return Math.pow(base, exponent);
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
        used(value);
        if (value instanceof Double d) {
            return -d;
        }
        if (isNumber(value)) {
            return arithmetic("-", 0L, value);
        }
        throw new TemplateFailure("bad operand type for unary -: '" + type(value) + "'");
    }

    /// {@return `base[key]`}
    static Object item(Frame frame, Object base, Object key) {
        frame.budget.step(1);
        used(base);
        switch (base) {
            case Map<?, ?> m -> {
                Object value = key instanceof Undefined ? null : m.get(key(key));
                if (value != null) {
                    return value;
                }
            }
            case List<?> l
            when isNumber(key) && !(key instanceof Double) -> {
                long i = integer(key) < 0 ? integer(key) + l.size() : integer(key);
                if (i >= 0 && i < l.size()) {
                    return l.get((int) i);
                }
                return new Undefined(type(base) + " object has no element " + integer(key));
            }
            case String s
            when isNumber(key) && !(key instanceof Double) -> {
                int n = PyText.length(s);
                long i = integer(key) < 0 ? integer(key) + n : integer(key);
                if (i >= 0 && i < n) {
                    return PyText.slice(s, (int) i, (int) i + 1);
                }
                return new Undefined("str object has no element " + integer(key));
            }
            default -> {}
        }
        return key instanceof String name ? attribute(frame, base, name, false) : missing(frame, base, key);
    }

    /// {@return `base.name`: an entry, an attribute or a method}
    static Object attribute(Frame frame, Object base, String name) {
        frame.budget.step(1);
        used(base);
        return attribute(frame, base, name, true);
    }

    private static Object attribute(Frame frame, Object base, String name, boolean methodFirst) {
        switch (base) {
            case String s -> {
                Callable method = StringMethods.get(s, name);
                if (method != null) {
                    return method;
                }
            }
            case Map<?, ?> m -> {
                Callable method = CollectionMethods.get(m, name);
                if (method != null && methodFirst) {
                    return method;
                }
                Object value = m.get(name);
                if (value != null) {
                    return value;
                }
                if (method != null) {
                    return method;
                }
            }
            case List<?> l -> {
                Callable method = CollectionMethods.get(l, name);
                if (method != null) {
                    return method;
                }
            }
            case Namespace n -> {
                Object value = n.attributes().get(name);
                if (value != null) {
                    return value;
                }
            }
            case LoopState loop -> {
                Object value = loop.attribute(frame, name);
                if (value != null) {
                    return value;
                }
            }
            case Macro macro -> {
                if (name.equals("name")) {
                    return macro.name();
                }
            }
            default -> {}
        }
        return missing(frame, base, name);
    }

    private static Undefined missing(Frame frame, Object base, Object key) {
        return new Undefined("'" + type(base) + " object' has no attribute " + PyText.repr(frame, key));
    }

    /// {@return `base[start:stop:step]`}
    static Object slice(Frame frame, Object base, Object start, Object stop, Object step) {
        used(base);
        int n = base instanceof String s ? PyText.length(s) : base instanceof List<?> l ? l.size() : -1;
        if (n < 0) {
            throw new TemplateFailure("'" + type(base) + "' object cannot be sliced");
        }
        long by = step == None.NONE ? 1 : index(step);
        if (by == 0) {
            throw new TemplateFailure("slice step cannot be zero");
        }
        long low = by > 0 ? 0 : -1;
        long high = by > 0 ? n : n - 1;
        long from = bound(start, n, low, high, by > 0 ? low : high);
        long to = bound(stop, n, low, high, by > 0 ? high : low);
        frame.budget.step(n / 16 + 1);
        if (base instanceof String s && by == 1) {
            String part = PyText.slice(s, (int) from, (int) Math.max(from, to));
            frame.budget.string(part.length());
            return part;
        }
        List<?> items = base instanceof List<?> l ? l : PyText.characters(frame, (String) base);
        List<Object> chosen = new ArrayList<>();
        for (long i = from; by > 0 ? i < to : i > to; i += by) {
            chosen.add(items.get((int) i));
            if (by > n || by < -n) {
                break;
            }
        }
        frame.budget.step(chosen.size());
        if (base instanceof String) {
            return String.join("", chosen.stream().map(String.class::cast).toList());
        }
        return base instanceof PyTuple ? new PyTuple(chosen) : chosen;
    }

    private static long bound(Object value, int n, long low, long high, long otherwise) {
        if (value == None.NONE) {
            return otherwise;
        }
        long i = index(value);
        return Math.clamp(i < 0 ? i + n : i, low, high);
    }

    private static long index(Object value) {
        used(value);
        if (!isNumber(value) || value instanceof Double) {
            throw new TemplateFailure("slice indices must be integers or None, not " + type(value));
        }
        return integer(value);
    }

    /// {@return what a call gives}
    static Object call(Frame frame, Object target, Callable.Args args) {
        used(target);
        Object code = target instanceof LoopState loop && loop.recurse() != null ? loop.recurse() : target;
        if (code instanceof Callable callable) {
            frame.budget.enter();
            try {
                return callable.call(frame, args);
            } finally {
                frame.budget.leave();
            }
        }
        throw new TemplateFailure("'" + type(target) + "' object is not callable");
    }

    /// {@return whether a value is a number; booleans are, as in Python}
    static boolean isNumber(Object value) {
        return value instanceof Long || value instanceof Double || value instanceof Boolean;
    }

    /// {@return a number as a float}
    static double number(Object value) {
        return value instanceof Double d ? d : integer(value);
    }

    /// {@return a whole number or boolean as a long}
    static long integer(Object value) {
        return value instanceof Boolean b ? (b ? 1 : 0) : (Long) value;
    }

    /// {@return an argument that must be a whole number}
    static int integerArgument(Object value, String name) {
        if (!isNumber(value) || value instanceof Double) {
            throw new TemplateFailure("'" + name + "' must be an integer, not " + type(value));
        }
        return (int) Math.clamp(integer(value), -Integer.MAX_VALUE, Integer.MAX_VALUE);
    }

    /// Fails if a value is undefined.
    static void used(Object value) {
        if (value instanceof Undefined undefined) {
            throw undefined.use();
        }
    }
}
