package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The filters on sequences. What Jinja2 makes one by one is a list here.
final class Sequences {
    private Sequences() {}

    /// {@return an attribute by a dotted path, or the item itself if there is none}
    private static Object path(Budget budget, Object item, Object attribute) {
        return path(budget, item, attribute, Arguments.NONE);
    }

    private static Object path(Budget budget, Object item, Object attribute, Arguments args) {
        if (!(attribute instanceof String path)) {
            return attribute == Values.NONE ? item : Access.item(budget, item, attribute);
        }
        Object value = item;
        for (String name : path.split("\\.")) {
            value = Access.item(budget, value, name.matches("[0-9]{1,9}") ? (Object) Long.valueOf(name) : name);
            value = value instanceof Undefined ? args.named().getOrDefault("default", value) : value;
        }
        return value;
    }

    private static Object folded(Object value, boolean caseSensitive) {
        return value instanceof String s && !caseSensitive ? s.toLowerCase(Locale.ROOT) : value;
    }

    /// {@return items in the order of an attribute, or their own if it is `None`}
    static List<Object> sorted(
            Budget budget, List<Object> items, Object attribute, boolean caseSensitive, boolean reverse) {
        Comparator<Object> order = (a, b) -> {
            Object x = folded(path(budget, a, attribute), caseSensitive);
            Object y = folded(path(budget, b, attribute), caseSensitive);
            return Values.equal(budget, x, y) ? 0 : Operators.order(budget, "<", x, y);
        };
        List<Object> sorted = new ArrayList<>(items);
        sorted.sort(reverse ? order.reversed() : order);
        return sorted;
    }

    static Object unique(Budget budget, List<Object> items, Arguments args) {
        boolean caseSensitive = args.flag(0, "case_sensitive");
        Map<Object, Object> seen = new LinkedHashMap<>();
        for (Object item : items) {
            Object value = path(budget, item, args.get(1, "attribute", Values.NONE));
            seen.putIfAbsent(Values.key(folded(value, caseSensitive)), item);
        }
        return new ArrayList<>(seen.values());
    }

    static Object groupBy(Budget budget, List<Object> items, Arguments args) {
        Object attribute = args.need(0, "attribute");
        boolean caseSensitive = args.flag(2, "case_sensitive");
        Map<Object, List<Object>> groups = new LinkedHashMap<>();
        for (Object item : sorted(budget, items, attribute, caseSensitive, false)) {
            Object key = Values.key(folded(path(budget, item, attribute), caseSensitive));
            groups.computeIfAbsent(key, k -> new ArrayList<>()).add(item);
        }
        List<Object> out = new ArrayList<>();
        groups.values().forEach(group -> out.add(Tuple.of(path(budget, group.getFirst(), attribute), group)));
        return out;
    }

    static Object sum(Budget budget, List<Object> items, Arguments args) {
        Object total = args.get(1, "start", 0L);
        for (Object item : items) {
            total = Operators.binary(budget, "+", total, path(budget, item, args.get(0, "attribute", Values.NONE)));
        }
        return total;
    }

    static Object join(Budget budget, List<Object> items, Arguments args) {
        List<Object> values = new ArrayList<>(items.size());
        for (Object item : items) {
            values.add(path(budget, item, args.get(1, "attribute", Values.NONE)));
        }
        return Text.join(budget, Text.str(budget, args.get(0, "d", "")), values, false);
    }

    static Object edge(List<Object> items, boolean first) {
        if (items.isEmpty()) {
            return new Undefined("No " + (first ? "first" : "last") + " item, sequence was empty.");
        }
        return first ? items.getFirst() : items.getLast();
    }

    static Object map(Budget budget, List<Object> items, Arguments args) {
        Object attribute = args.positional().isEmpty() ? args.named().get("attribute") : null;
        String filter = attribute == null ? Filters.named(args.text(0, "filter")) : null;
        Arguments rest = args.from(1);
        List<Object> out = new ArrayList<>(items.size());
        for (Object item : items) {
            budget.step(1);
            out.add(filter == null ? path(budget, item, attribute, args) : Filters.apply(budget, filter, item, rest));
        }
        return out;
    }

    static Object select(Budget budget, List<Object> items, Arguments args, String name) {
        boolean byAttribute = name.endsWith("attr");
        int next = byAttribute ? 1 : 0;
        Object attribute = byAttribute ? args.need(0, "attribute") : Values.NONE;
        boolean plain = args.positional().size() <= next;
        String test = plain ? "" : Tests.named(args.text(next, "test"));
        Arguments rest = args.from(next + 1);
        List<Object> out = new ArrayList<>();
        for (Object item : items) {
            budget.step(1);
            Object value = path(budget, item, attribute);
            if ((plain ? Values.truth(value) : Tests.holds(budget, test, value, rest)) == name.startsWith("select")) {
                out.add(item);
            }
        }
        return out;
    }

    static Object batch(List<Object> items, Arguments args) {
        int size = args.integer(0, "linecount", 0);
        if (size < 1) {
            throw new TemplateFailure("batch needs a positive number");
        }
        List<Object> out = new ArrayList<>();
        for (int from = 0; from < items.size(); from += Math.min(size, items.size())) {
            out.add(items.subList(from, (int) Math.min(items.size(), (long) from + size)));
        }
        return out;
    }
}
