package dev.tenon.platform.templates.values;

import dev.tenon.api.text.TemplateText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What holds for values of every type: truth, length, items, equality and calls.
public final class Values {
    /// Python's `None`; Java's null never appears among a template's values.
    public static final Object NONE = new Object();
    private static final Undefined UNDEFINED_KEY = new Undefined("a key is undefined");

    private Values() {}

    /// {@return Python's name of a value's type}
    static String type(Object value) {
        return switch (value) {
            case Text s -> "str";
            case Boolean b -> "bool";
            case Long l -> "int";
            case Double d -> "float";
            case Undefined u -> "Undefined";
            case Builtin.Namespace n -> "Namespace";
            case Tuple t -> "tuple";
            case Range r -> "range";
            case View v -> v.type();
            case Generator g -> "generator";
            case List<?> l -> "list";
            case Map<?, ?> m -> "dict";
            default -> value == NONE ? "NoneType" : "function";
        };
    }

    static boolean isInteger(Object value) {
        return value instanceof Long || value instanceof Boolean;
    }

    static boolean isNumber(Object value) {
        return value instanceof Double || isInteger(value);
    }

    static double toDouble(Object number) {
        return number instanceof Double d ? d : toLong(number);
    }

    static long toLong(Object integer) {
        return integer instanceof Boolean b ? (b ? 1 : 0) : (Long) integer;
    }

    /// {@return whether a value counts as true}
    public static boolean truth(Object value) {
        if (value instanceof Text text) {
            return !text.isEmpty();
        }
        if (value instanceof List<?> || value instanceof Map<?, ?> || value instanceof View) {
            return length(value) != 0;
        }
        return isNumber(value) ? toDouble(value) != 0 : value != NONE && !(value instanceof Undefined);
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
        boolean nested = value instanceof Tuple t && t.stream().anyMatch(i -> i instanceof List || i instanceof Map);
        if (value instanceof Map || nested || (value instanceof List && !(value instanceof Tuple))) {
            throw new TemplateFailure("unhashable type: '" + type(value) + "'");
        }
        return value instanceof Undefined ? UNDEFINED_KEY : value;
    }

    static long length(Object value) {
        return switch (value) {
            case Text text -> text.length();
            case View view -> view.items().size();
            case Collection<?> c -> c.size();
            case Map<?, ?> m -> m.size();
            case Undefined u -> 0;
            default -> throw new TemplateFailure("object of type '" + type(value) + "' has no len()");
        };
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
        if (value instanceof Text text) {
            return Splits.characters(budget, text);
        }
        if (value instanceof View view) {
            return iterate(budget, view.items());
        }
        if (value instanceof Generator generator) {
            List<Object> items = new ArrayList<>();
            while (generator.hasNext()) {
                budget.step(1);
                items.add(generator.next());
            }
            return items;
        }
        if (!(value instanceof Undefined)) {
            throw new TemplateFailure("'" + type(value) + "' object is not iterable");
        }
        return List.of();
    }

    /// {@return the items of a value one by one}
    static Iterator<Object> iterator(Budget budget, Object value) {
        return value instanceof Generator generator
                ? generator
                : iterate(budget, value).iterator();
    }

    /// {@return a mapping as arguments by name}
    public static Map<String, Object> names(Object value) {
        used(value);
        if (!(value instanceof Map<?, ?> map) || !map.keySet().stream().allMatch(Text.class::isInstance)) {
            throw new TemplateFailure("a mapping with names was expected, not " + type(value));
        }
        Map<String, Object> named = new LinkedHashMap<>();
        map.forEach((key, each) -> named.put(key.toString(), each));
        return named;
    }

    /// {@return arguments by name as a dictionary}
    public static Map<Object, Object> mapping(Map<String, Object> named) {
        Map<Object, Object> map = LinkedHashMap.newLinkedHashMap(named.size());
        named.forEach((name, value) -> map.put(Text.of(name), value));
        return map;
    }

    /// {@return keys and values of a dictionary as pairs}
    public static List<Object> items(Budget budget, Object value) {
        if (value instanceof Undefined) {
            return List.of();
        }
        if (!(value instanceof Map<?, ?> map)) {
            throw new TemplateFailure("Can only get item pairs from a mapping.");
        }
        budget.step(map.size());
        List<Object> items = new ArrayList<>(map.size());
        map.forEach((k, v) -> items.add(Tuple.of(k, v)));
        return items;
    }

    static boolean equal(Budget budget, Object a, Object b) {
        budget.step(1);
        if (isNumber(a) && isNumber(b)) {
            return isInteger(a) && isInteger(b) ? toLong(a) == toLong(b) : toDouble(a) == toDouble(b);
        }
        if (a instanceof List<?> x && b instanceof List<?> y) {
            boolean equal = type(a).equals(type(b)) && x.size() == y.size();
            for (int i = 0; equal && i < x.size(); i++) {
                equal = equal(budget, x.get(i), y.get(i));
            }
            return equal;
        }
        if (a instanceof Map<?, ?> x && b instanceof Map<?, ?> y) {
            boolean equal = x.size() == y.size();
            for (Object key : equal ? x.keySet() : List.of()) {
                equal = equal && y.containsKey(key) && equal(budget, x.get(key), y.get(key));
            }
            return equal;
        }
        return a == b || (a instanceof Text && a.equals(b)) || (a instanceof Undefined && b instanceof Undefined);
    }

    static boolean contains(Budget budget, Object container, Object value) {
        if (container instanceof Text text) {
            budget.step(text.toString().length() / 64);
            used(value);
            if (value instanceof Text part) {
                return text.toString().contains(part.toString());
            }
            throw new TemplateFailure("'in <string>' requires string as left operand, not " + type(value));
        }
        if (container instanceof Map<?, ?> m) {
            return m.containsKey(key(value));
        }
        Iterator<Object> items = iterator(budget, container);
        while (items.hasNext()) {
            if (equal(budget, items.next(), value)) {
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
    /// @param value a string, template text, number, boolean, null, list or map with strings or
    ///     template texts as keys
    /// @param depth how deep it stands, 0 outside
    /// @throws IllegalArgumentException if it holds anything else, or itself
    public static Object fromJava(Object value, int depth) {
        if (depth > Budget.MAX_DEPTH) {
            throw new IllegalArgumentException(
                    "A template variable is nested more than " + Budget.MAX_DEPTH + " levels deep or contains itself");
        }
        return switch (value) {
            case null -> NONE;
            case String s -> Text.of(s);
            case TemplateText t -> Text.of(t.text(), t.client());
            case Boolean b -> b;
            case BigInteger i when i.bitLength() > 63 -> i.doubleValue();
            case Number n when n instanceof Double || n instanceof Float || n instanceof BigDecimal -> n.doubleValue();
            case Number n -> n.longValue();
            case CharSequence s -> Text.of(s.toString());
            case Map<?, ?> m -> {
                Map<Object, Object> copy = LinkedHashMap.newLinkedHashMap(m.size());
                m.forEach((k, v) -> copy.put(
                        k instanceof TemplateText ? fromJava(k, 0) : Text.of(String.valueOf(k)),
                        fromJava(v, depth + 1)));
                yield copy;
            }
            case Iterable<?> items -> {
                List<Object> copy = new ArrayList<>();
                items.forEach(item -> copy.add(fromJava(item, depth + 1)));
                yield copy;
            }
            default ->
                throw new IllegalArgumentException("A template variable has type " + value.getClass()
                        + "; expected strings, numbers, booleans, null, lists and maps");
        };
    }
}
