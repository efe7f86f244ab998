package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What holds for values of every type: truth, length, items, equality and calls.
public final class Values {
    private Values() {}

    /// {@return Python's name of a value's type}
    static String type(Object value) {
        return switch (value) {
            case String s -> "str";
            case Boolean b -> "bool";
            case Long l -> "int";
            case Double d -> "float";
            case None n -> "NoneType";
            case Undefined u -> "Undefined";
            case TemplateObject o -> o.type();
            case Tuple t -> "tuple";
            case List<?> l -> "list";
            case Map<?, ?> m -> "dict";
            default -> "function";
        };
    }

    /// {@return whether a value counts as true}
    public static boolean truth(Object value) {
        if (value instanceof Boolean b) {
            return b;
        }
        if (value instanceof String s) {
            return !s.isEmpty();
        }
        if (value instanceof List<?> l) {
            return !l.isEmpty();
        }
        if (value instanceof Map<?, ?> m) {
            return !m.isEmpty();
        }
        if (Numbers.is(value)) {
            return Numbers.toDouble(value) != 0;
        }
        return value != None.NONE && !(value instanceof Undefined);
    }

    /// Fails if a value is undefined.
    static void used(Object value) {
        if (value instanceof Undefined undefined) {
            throw new TemplateFailure(undefined.what());
        }
    }

    /// {@return a value as a dictionary key; equal numbers are equal keys}
    public static Object key(Object value) {
        if (value instanceof Double d && d == Math.rint(d) && Math.abs(d) < 1e15) {
            return (long) (double) d;
        }
        if (value instanceof String || Numbers.is(value) || value == None.NONE || value instanceof Tuple) {
            return value;
        }
        throw new TemplateFailure("unhashable type: '" + type(value) + "'");
    }

    /// {@return number of items or characters}
    static long length(Object value) {
        if (value instanceof String s) {
            return Text.length(s);
        }
        if (value instanceof List<?> l) {
            return l.size();
        }
        if (value instanceof Map<?, ?> m) {
            return m.size();
        }
        if (value instanceof Undefined) {
            return 0;
        }
        throw new TemplateFailure("object of type '" + type(value) + "' has no len()");
    }

    /// {@return the items of a value, as a loop sees them; read only}
    public static List<Object> iterate(Budget budget, Object value) {
        if (value instanceof List<?> l) {
            budget.step(l.size());
            @SuppressWarnings("unchecked")
            List<Object> items = (List<Object>) l;
            return items;
        }
        if (value instanceof Map<?, ?> m) {
            budget.step(m.size());
            return new ArrayList<>(m.keySet());
        }
        if (value instanceof String s) {
            return Text.characters(budget, s);
        }
        if (value instanceof Undefined) {
            return List.of();
        }
        throw new TemplateFailure("'" + type(value) + "' object is not iterable");
    }

    /// {@return keys and values of a dictionary as pairs}
    static List<Object> items(Budget budget, Map<?, ?> map) {
        budget.step(map.size());
        List<Object> items = new ArrayList<>(map.size());
        map.forEach((k, v) -> items.add(Tuple.of(k, v)));
        return items;
    }

    /// {@return whether two values are equal}
    static boolean equal(Budget budget, Object a, Object b) {
        budget.step(1);
        if (Numbers.is(a) && Numbers.is(b)) {
            return Numbers.equal(a, b);
        }
        if (a instanceof List<?> x && b instanceof List<?> y) {
            if (a instanceof Tuple != b instanceof Tuple || x.size() != y.size()) {
                return false;
            }
            for (int i = 0; i < x.size(); i++) {
                if (!equal(budget, x.get(i), y.get(i))) {
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
                if (other == null || !equal(budget, e.getValue(), other)) {
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

    /// {@return whether a container holds a value}
    static boolean contains(Budget budget, Object container, Object value) {
        if (container instanceof String s) {
            used(value);
            if (!(value instanceof String part)) {
                throw new TemplateFailure("'in <string>' requires string as left operand, not " + type(value));
            }
            budget.step(s.length() / 64);
            return s.contains(part);
        }
        if (container instanceof Map<?, ?> m) {
            return !(value instanceof Undefined) && m.containsKey(key(value));
        }
        if (!(container instanceof List<?>) && !(container instanceof Undefined)) {
            throw new TemplateFailure("argument of type '" + type(container) + "' is not iterable");
        }
        for (Object item : iterate(budget, container)) {
            if (equal(budget, item, value)) {
                return true;
            }
        }
        return false;
    }

    /// {@return what a call returns}
    public static Object call(Budget budget, Object target, Arguments arguments) {
        used(target);
        if (!(target instanceof Callable callable)) {
            throw new TemplateFailure("'" + type(target) + "' object is not callable");
        }
        budget.enter();
        Object result = callable.call(budget, arguments);
        budget.leave();
        return result;
    }

    /// {@return Java values as a template's values, copied}
    ///
    /// @param value a string, number, boolean, null, list or map with string keys
    /// @param depth how deep it stands, 0 outside
    /// @throws IllegalArgumentException if it holds anything else, or itself
    public static Object fromJava(Object value, int depth) {
        if (depth > Budget.MAX_DEPTH) {
            throw new IllegalArgumentException(
                    "A template variable is nested more than " + Budget.MAX_DEPTH + " levels deep or contains itself");
        }
        return switch (value) {
            case null -> None.NONE;
            case String s -> s;
            case Boolean b -> b;
            case Double d -> d;
            case Float f -> (double) f;
            case BigDecimal d -> d.doubleValue();
            case BigInteger i -> i.bitLength() < 64 ? (Object) i.longValue() : (Object) i.doubleValue();
            case Number n -> n.longValue();
            case CharSequence s -> s.toString();
            case Map<?, ?> m -> {
                Map<Object, Object> copy = LinkedHashMap.newLinkedHashMap(m.size());
                m.forEach((k, v) -> copy.put(String.valueOf(k), fromJava(v, depth + 1)));
                yield copy;
            }
            case Iterable<?> items -> {
                List<Object> copy = new ArrayList<>();
                items.forEach(item -> copy.add(fromJava(item, depth + 1)));
                yield copy;
            }
            default ->
                throw new IllegalArgumentException("A template variable has type "
                        + value.getClass().getName()
                        + "; expected strings, numbers, booleans, null, lists and maps");
        };
    }
}
