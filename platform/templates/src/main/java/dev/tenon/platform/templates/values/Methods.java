package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A method of a string, dictionary, list, tuple or range.
///
/// @param self what it is bound to
/// @param name its name
record Methods(Object self, String name) implements Callable {
    private static final Map<String, List<String>> OF_DICTS = Signatures.of("""
            copy,items,keys,values
            fromkeys iterable value?
            get key default?""");
    private static final Map<String, List<String>> OF_LISTS = Signatures.of("""
            copy
            count value
            index value start? stop?""");
    private static final Set<String> CHANGERS =
            Set.of(("append clear extend insert pop popitem remove reverse setdefault sort update").split(" "));

    /// {@return a bound method, or null; those that change the value are undefined, as in Jinja2's immutable sandbox}
    static Object of(Object self, String name) {
        Map<String, List<String>> names = names(self);
        if (names.containsKey(name)
                && !(name.equals("copy") && Values.type(self).matches("tuple|range"))) {
            return new Methods(self, name);
        }
        if (self instanceof Text && Strings.ABSENT.contains(name)) {
            return new Undefined("str." + name + "() is not part of chat templates");
        }
        boolean changes = CHANGERS.contains(name)
                && (self instanceof Map || Values.type(self).equals("list"));
        return changes
                ? new Undefined("access to attribute '" + name + "' of '" + Values.type(self) + "' object is unsafe.")
                : null;
    }

    private static Map<String, List<String>> names(Object self) {
        return self instanceof Text
                ? Strings.METHODS
                : self instanceof Map ? OF_DICTS : self instanceof List ? OF_LISTS : Map.of();
    }

    @Override
    public Object call(Budget budget, Arguments args) {
        args.require(Values.type(self) + "." + name + "()", names(self).get(name));
        return switch (self) {
            case Text text -> Strings.call(budget, text, name, args);
            case Map<?, ?> map -> ofDict(budget, map, args);
            default -> ofList(budget, (List<?>) self, args);
        };
    }

    private Object ofDict(Budget budget, Map<?, ?> map, Arguments args) {
        return switch (name) {
            case "items" -> new View("dict_items", Values.items(budget, map));
            case "keys" -> new View("dict_keys", Values.iterate(budget, map));
            case "values" -> new View("dict_values", new ArrayList<>(map.values()));
            case "get" -> {
                Object value = map.get(Values.key(args.need(0, "key")));
                yield value != null ? value : args.get(1, "default", Values.NONE);
            }
            case "fromkeys" -> {
                Map<Object, Object> made = new LinkedHashMap<>();
                for (Object key : Values.iterate(budget, args.need(0, "iterable"))) {
                    made.put(Values.key(key), args.get(1, "value", Values.NONE));
                }
                yield made;
            }
            default -> map;
        };
    }

    private Object ofList(Budget budget, List<?> list, Arguments args) {
        if (name.equals("copy")) {
            return list;
        }
        long n = list.size();
        long from = name.equals("index") ? bound(args.integer(1, "start", 0), n) : 0;
        long to = name.equals("index") ? bound(args.integer(2, "stop", Integer.MAX_VALUE), n) : n;
        long found = 0;
        for (long i = from; i < to; i++) {
            if (Values.equal(budget, list.get((int) i), args.need(0, "value"))) {
                found++;
                if (name.equals("index")) {
                    return i;
                }
            }
        }
        if (name.equals("index")) {
            throw new TemplateFailure("the value is not in " + Values.type(list));
        }
        return found;
    }

    private static long bound(long index, long n) {
        return Math.clamp(index < 0 ? index + n : index, 0, n);
    }
}
