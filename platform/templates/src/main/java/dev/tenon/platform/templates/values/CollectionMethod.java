package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A method of a dictionary or list, bound to it.
///
/// Methods that would change the value are refused, as in the sandbox in which `transformers` renders.
///
/// @param self the dictionary or list
/// @param name the method's name
record CollectionMethod(Object self, String name) implements Callable {
    private static final Set<String> DICT = Set.of("items", "keys", "values", "get", "copy");
    private static final Set<String> DICT_CHANGERS = Set.of("clear", "pop", "popitem", "setdefault", "update");
    private static final Set<String> LIST = Set.of("index", "count", "copy");
    private static final Set<String> LIST_CHANGERS =
            Set.of("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort");

    /// {@return a bound method, an undefined value for a refused one, or null}
    ///
    /// @param self a dictionary or list
    /// @param name the method's name
    static Object bound(Object self, String name) {
        boolean dict = self instanceof Map;
        if ((dict ? DICT : LIST).contains(name)) {
            return new CollectionMethod(self, name);
        }
        return (dict ? DICT_CHANGERS : LIST_CHANGERS).contains(name)
                ? new Undefined(
                        "access to attribute '" + name + "' of '" + Values.type(self) + "' object is unsafe.")
                : null;
    }

    @Override
    public Object call(Budget budget, Arguments args) {
        return self instanceof Map<?, ?> map ? ofDict(budget, map, args) : ofList(budget, (List<?>) self, args);
    }

    private Object ofDict(Budget budget, Map<?, ?> map, Arguments args) {
        if (name.equals("get")) {
            Object key = args.need(0, "key");
            Object value = key instanceof Undefined ? null : map.get(Values.key(key));
            return value != null ? value : args.get(1, "default", None.NONE);
        }
        budget.step(map.size());
        return switch (name) {
            case "items" -> Values.items(budget, map);
            case "values" -> new ArrayList<Object>(map.values());
            case "copy" -> new LinkedHashMap<Object, Object>(map);
            default -> new ArrayList<Object>(map.keySet());
        };
    }

    private Object ofList(Budget budget, List<?> list, Arguments args) {
        if (name.equals("copy")) {
            return list;
        }
        Object wanted = args.need(0, "value");
        long count = 0;
        for (int i = 0; i < list.size(); i++) {
            if (Values.equal(budget, list.get(i), wanted)) {
                if (name.equals("index")) {
                    return (long) i;
                }
                count++;
            }
        }
        if (name.equals("index")) {
            throw new TemplateFailure(Text.repr(budget, wanted) + " is not in list");
        }
        return count;
    }
}
