package dev.tenon.platform.templates;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Brings a caller's variables among a template's values; see [PyOps] for what those are.
final class Variables {
    private Variables() {}

    /// {@return Java values as a template's values, copied}
    ///
    /// @param value a string, number, boolean, null, list or map with string keys
    /// @param depth how deep it stands, 0 outside
    /// @throws IllegalArgumentException if it holds anything else, or itself
    static Object fromJava(Object value, int depth) {
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
