package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Parts of values: `base.name`, `base[key]`, `base[start:stop:step]`.
public final class Access {
    private Access() {}

    /// {@return `base.name`: a method, an attribute, or else an entry}
    public static Object attribute(Budget budget, Object base, String name) {
        budget.step(1);
        Values.used(base);
        Object value = own(base, name);
        if (value == null && base instanceof Map<?, ?> map) {
            value = map.get(name);
        }
        return value == null ? missing(base, name) : value;
    }

    /// {@return `base[key]`: an entry or item, or else an attribute}
    public static Object item(Budget budget, Object base, Object key) {
        budget.step(1);
        Values.used(base);
        Object value = null;
        if (base instanceof Map<?, ?> map) {
            value = key instanceof Undefined ? null : map.get(Values.key(key));
        } else if (Numbers.isInteger(key) && (base instanceof List || base instanceof String)) {
            value = at(base, Numbers.toLong(key));
        }
        if (value == null && key instanceof String name) {
            value = own(base, name);
        }
        if (value != null) {
            return value;
        }
        return key instanceof String name
                ? missing(base, name)
                : new Undefined(kind(base) + " has no element " + Text.repr(budget, key));
    }

    private static Object at(Object base, long index) {
        long n = Values.length(base);
        long i = index < 0 ? index + n : index;
        if (i < 0 || i >= n) {
            return null;
        }
        return base instanceof String s ? Text.slice(s, (int) i, (int) i + 1) : ((List<?>) base).get((int) i);
    }

    /// {@return a method or attribute that a value has whatever its entries are, or null}
    private static Object own(Object base, String name) {
        if (base instanceof String s) {
            return StringMethod.bound(s, name);
        }
        if (base instanceof TemplateObject object) {
            return object.attribute(name);
        }
        if (base instanceof Map<?, ?> || base instanceof List<?>) {
            return CollectionMethod.bound(base, name);
        }
        return null;
    }

    private static Undefined missing(Object base, String name) {
        return new Undefined("'" + kind(base) + "' has no attribute '" + name + "'");
    }

    private static String kind(Object base) {
        return base == None.NONE ? "None" : Values.type(base) + " object";
    }

    /// {@return `base[start:stop:step]`; absent bounds are `None`}
    public static Object slice(Budget budget, Object base, Object start, Object stop, Object step) {
        Values.used(base);
        if (!(base instanceof String) && !(base instanceof List)) {
            throw new TemplateFailure("'" + Values.type(base) + "' object cannot be sliced");
        }
        int n = (int) Values.length(base);
        long by = step == None.NONE ? 1 : index(step);
        if (by == 0) {
            throw new TemplateFailure("slice step cannot be zero");
        }
        long low = by > 0 ? 0 : -1;
        long high = by > 0 ? n : n - 1;
        long from = bound(start, n, low, high, by > 0 ? low : high);
        long to = bound(stop, n, low, high, by > 0 ? high : low);
        budget.step(n / 16 + 1);
        if (base instanceof String s && by == 1) {
            return budget.made(Text.slice(s, (int) from, (int) Math.max(from, to)));
        }
        List<?> items = base instanceof List<?> l ? l : Text.characters(budget, (String) base);
        List<Object> chosen = new ArrayList<>();
        for (long i = from; by > 0 ? i < to : i > to; i += by) {
            chosen.add(items.get((int) i));
            if (by > n || by < -n) {
                break;
            }
        }
        budget.step(chosen.size());
        if (base instanceof String) {
            StringBuilder text = new StringBuilder();
            for (Object character : chosen) {
                text.append((String) character);
            }
            return text.toString();
        }
        return base instanceof Tuple ? new Tuple(chosen) : chosen;
    }

    /// {@return a slice's bound as a position between low and high}
    static long bound(Object value, int n, long low, long high, long otherwise) {
        if (value == None.NONE) {
            return otherwise;
        }
        long i = index(value);
        return Math.clamp(i < 0 ? i + n : i, low, high);
    }

    private static long index(Object value) {
        Values.used(value);
        if (!Numbers.isInteger(value)) {
            throw new TemplateFailure("slice indices must be integers or None, not " + Values.type(value));
        }
        return Numbers.toLong(value);
    }
}
