package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Parts of values: `base.name`, `base[key]`, `base[start:stop:step]`.
public final class Access {
    private Access() {}

    /// {@return `base.name`: a method or attribute, or else an entry}
    public static Object attribute(Budget budget, Object base, String name) {
        budget.step(1);
        Values.used(base);
        Object value = own(base, name);
        if (value == null && base instanceof Map<?, ?> map) {
            value = map.get(Text.of(name));
        }
        return value == null ? missing(base, name) : value;
    }

    /// {@return a method or attribute, no entry}
    static Object attributeOnly(Object base, String name) {
        Values.used(base);
        Object value = own(base, name);
        return value == null ? missing(base, name) : value;
    }

    /// {@return `base[key]`: an entry or item, or else an attribute}
    public static Object item(Budget budget, Object base, Object key) {
        budget.step(1);
        Values.used(base);
        Object value = null;
        if (base instanceof Map<?, ?> map) {
            value = key instanceof List<?> && !(key instanceof Tuple) ? null : map.get(Values.key(key));
        } else if (Values.isInteger(key) && (base instanceof List || base instanceof Text)) {
            long n = Values.length(base);
            int i = (int) Math.clamp(Values.toLong(key) < 0 ? Values.toLong(key) + n : Values.toLong(key), -1, n);
            value = i < 0 || i == n ? null : base instanceof List<?> l ? l.get(i) : ((Text) base).slice(i, i + 1);
        }
        if (value == null && key instanceof Text name) {
            value = own(base, name.toString());
            return value == null ? missing(base, name.toString()) : value;
        }
        return value == null ? new Undefined(kind(base) + " has no element " + Printer.repr(budget, key)) : value;
    }

    /// {@return a method or attribute that a value has whatever its entries are, or null}
    private static Object own(Object base, String name) {
        return switch (base) {
            case Callable callable -> callable.attribute(name);
            case Builtin.Namespace space -> space.attributes().get(Text.of(name));
            case Tuple tuple when tuple.named(name) != null -> tuple.named(name);
            default -> Methods.of(base, name);
        };
    }

    private static Undefined missing(Object base, String name) {
        return new Undefined("'" + kind(base) + "' has no attribute '" + name + "'");
    }

    private static String kind(Object base) {
        return base == Values.NONE ? "None" : Values.type(base) + " object";
    }

    /// {@return `base[start:stop:step]`; absent bounds are `None`}
    public static Object slice(Budget budget, Object base, Object start, Object stop, Object step) {
        Values.used(base);
        if (!(base instanceof Text) && !(base instanceof List)) {
            throw new TemplateFailure("'" + Values.type(base) + "' object cannot be sliced");
        }
        int n = (int) Values.length(base);
        long by = index(step, 1);
        if (by == 0) {
            throw new TemplateFailure("slice step cannot be zero");
        }
        int low = by > 0 ? 0 : -1;
        int high = by > 0 ? n : n - 1;
        int from = bound(start, n, low, high, by > 0 ? low : high);
        int to = bound(stop, n, low, high, by > 0 ? high : low);
        budget.step(n / 16 + 1);
        if (base instanceof Text text && by == 1) {
            Text part = text.slice(from, Math.max(from, to));
            budget.string(part.toString().length());
            return part;
        }
        List<?> items = base instanceof List<?> l ? l : Splits.characters(budget, (Text) base);
        List<Object> chosen = new ArrayList<>();
        for (long i = from; by > 0 ? i < to : i > to; i += Math.clamp(by, -n, n)) {
            chosen.add(items.get((int) i));
        }
        budget.step(chosen.size());
        if (base instanceof Text) {
            return Splits.join(budget, Text.EMPTY, chosen, true);
        }
        return base instanceof Tuple ? new Tuple(chosen) : chosen;
    }

    /// {@return a slice's bound as a position from low to high}
    private static int bound(Object value, int n, int low, int high, int otherwise) {
        long i = index(value, otherwise);
        return Math.clamp(i < 0 && value != Values.NONE ? i + n : i, low, high);
    }

    private static long index(Object value, long otherwise) {
        Values.used(value);
        if (value == Values.NONE || Values.isInteger(value)) {
            return value == Values.NONE ? otherwise : Values.toLong(value);
        }
        throw new TemplateFailure("slice indices must be integers or None, not " + Values.type(value));
    }
}
