package dev.tenon.platform.templates;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Methods of Python's dictionaries and lists. Those that change the object are refused, as in the sandbox
/// that Hugging
/// Face renders in.
final class CollectionMethods {
    private static final Set<String> DICT_CHANGERS = Set.of("clear", "pop", "popitem", "setdefault", "update");
    private static final Set<String> LIST_CHANGERS =
            Set.of("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort");

    private CollectionMethods() {}

    /// {@return a method bound to a dictionary, or null}
    ///
    /// @param self the dictionary
    /// @param name the method's name
    static Callable get(Map<?, ?> self, String name) {
        return switch (name) {
            case "items" -> (f, a) -> items(f, self);
            case "keys" -> (f, a) -> PyOps.iterate(f, self);
            case "values" ->
                (f, a) -> {
                    f.budget.step(self.size());
                    return new ArrayList<Object>(self.values());
                };
            case "get" ->
                (f, a) -> {
                    Object value = self.get(PyOps.key(a.need(0, "key")));
                    return value != null ? value : a.get(1, "default", None.NONE);
                };
            case "copy" ->
                (f, a) -> {
                    f.budget.step(self.size());
                    return new java.util.LinkedHashMap<Object, Object>(self);
                };
            default -> DICT_CHANGERS.contains(name) ? refuse("dict", name) : null;
        };
    }

    /// {@return a method bound to a list, or null}
    ///
    /// @param self the list
    /// @param name the method's name
    static Callable get(List<?> self, String name) {
        return switch (name) {
            case "index" ->
                (f, a) -> {
                    for (int i = 0; i < self.size(); i++) {
                        if (PyOps.equal(f, self.get(i), a.need(0, "value"))) {
                            return (long) i;
                        }
                    }
                    throw new TemplateFailure("value is not in list");
                };
            case "count" ->
                (f, a) -> self.stream()
                        .filter(item -> PyOps.equal(f, item, a.need(0, "value")))
                        .count();
            case "copy" -> (f, a) -> PyOps.iterate(f, self);
            default -> LIST_CHANGERS.contains(name) ? refuse("list", name) : null;
        };
    }

    /// {@return keys and values of a dictionary as pairs}
    static List<Object> items(Frame frame, Map<?, ?> map) {
        frame.budget.step(map.size());
        List<Object> items = new ArrayList<>(map.size());
        map.forEach((k, v) -> items.add(PyTuple.pair(k, v)));
        return items;
    }

    private static Callable refuse(String type, String name) {
        return (f, a) -> {
            throw new TemplateFailure(
                    "access to '" + name + "' of a " + type + " is not allowed: it changes the value");
        };
    }
}
