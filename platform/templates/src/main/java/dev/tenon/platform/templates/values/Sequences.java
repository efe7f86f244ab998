package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The filters on sequences. What Jinja2 makes one by one is a list here.
final class Sequences {
    private Sequences() {}

    /// {@return an attribute by a dotted path, or several as a tuple if the path has commas}
    private static Object path(Budget budget, Object item, Object attribute) {
        if (attribute == None.NONE) {
            return item;
        }
        if (!(attribute instanceof String path)) {
            return Access.item(budget, item, attribute);
        }
        if (path.indexOf(',') >= 0) {
            List<Object> several = new ArrayList<>();
            for (String one : path.split(",")) {
                several.add(path(budget, item, one));
            }
            return new Tuple(several);
        }
        Object value = item;
        for (String name : path.split("\\.")) {
            boolean digits = !name.isEmpty() && name.length() < 10;
            for (int i = 0; i < name.length(); i++) {
                digits &= name.charAt(i) >= '0' && name.charAt(i) <= '9';
            }
            value = Access.item(budget, value, digits ? (Object) Long.parseLong(name) : (Object) name);
        }
        return value;
    }

    private static Object folded(Object value, boolean caseSensitive) {
        return value instanceof String s && !caseSensitive ? s.toLowerCase(Locale.ROOT) : value;
    }

    private static List<Object> sorted(
            Budget budget, List<Object> items, Object attribute, boolean caseSensitive, boolean reverse) {
        record Keyed(Object key, Object item) {}
        List<Keyed> keyed = new ArrayList<>(items.size());
        for (Object item : items) {
            keyed.add(new Keyed(folded(path(budget, item, attribute), caseSensitive), item));
        }
        Comparator<Keyed> order = (a, b) -> Comparison.LT.order(budget, a.key, b.key);
        keyed.sort(reverse ? order.reversed() : order);
        List<Object> sorted = new ArrayList<>(items.size());
        for (Keyed each : keyed) {
            sorted.add(each.item);
        }
        return sorted;
    }

    static Object sort(Budget budget, List<Object> items, Arguments args) {
        return sorted(
                budget,
                items,
                args.get(2, "attribute", None.NONE),
                args.flag(1, "case_sensitive", false),
                args.flag(0, "reverse", false));
    }

    static Object dictSort(Budget budget, Object value, Arguments args) {
        if (!(value instanceof Map<?, ?> map)) {
            throw new TemplateFailure("dictsort needs a mapping, not " + Values.type(value));
        }
        long by = "value".equals(args.get(1, "by")) ? 1 : 0;
        return sorted(
                budget,
                Values.items(budget, map),
                by,
                args.flag(0, "case_sensitive", false),
                args.flag(2, "reverse", false));
    }

    static Object unique(Budget budget, List<Object> items, Arguments args) {
        boolean caseSensitive = args.flag(0, "case_sensitive", false);
        Map<Object, Object> seen = new LinkedHashMap<>();
        for (Object item : items) {
            Object value = path(budget, item, args.get(1, "attribute", None.NONE));
            seen.putIfAbsent(Values.key(folded(value, caseSensitive)), item);
        }
        return new ArrayList<>(seen.values());
    }

    static Object groupBy(Budget budget, List<Object> items, Arguments args) {
        Object attribute = args.need(0, "attribute");
        boolean caseSensitive = args.flag(2, "case_sensitive", false);
        List<Object> out = new ArrayList<>();
        List<Object> group = List.of();
        Object key = null;
        for (Object item : sorted(budget, items, attribute, caseSensitive, false)) {
            Object value = path(budget, item, attribute);
            Object next = folded(value, caseSensitive);
            if (key == null || !Values.equal(budget, key, next)) {
                group = new ArrayList<>();
                out.add(new Tuple.Group(value, group));
                key = next;
            }
            group.add(item);
        }
        return out;
    }

    static Object extreme(Budget budget, List<Object> items, Arguments args, int sign) {
        boolean caseSensitive = args.flag(0, "case_sensitive", false);
        Object attribute = args.get(1, "attribute", None.NONE);
        Object best = new Undefined("No aggregated item, sequence was empty.");
        Object bestKey = null;
        for (Object item : items) {
            Object key = folded(path(budget, item, attribute), caseSensitive);
            if (bestKey == null || Comparison.LT.order(budget, key, bestKey) * sign > 0) {
                best = item;
                bestKey = key;
            }
        }
        return best;
    }

    static Object sum(Budget budget, List<Object> items, Arguments args) {
        Object total = args.get(1, "start", 0L);
        for (Object item : items) {
            total = Operator.ADD.apply(budget, total, path(budget, item, args.get(0, "attribute", None.NONE)));
        }
        return total;
    }

    static Object join(Budget budget, List<Object> items, Arguments args) {
        String separator = Text.str(budget, args.get(0, "d", ""));
        Object attribute = args.get(1, "attribute", None.NONE);
        List<Object> values = items;
        if (attribute != None.NONE) {
            values = new ArrayList<>(items.size());
            for (Object item : items) {
                values.add(path(budget, item, attribute));
            }
        }
        return Strings.join(budget, separator, values, false);
    }

    static Object edge(List<Object> items, boolean first) {
        if (items.isEmpty()) {
            return new Undefined("No " + (first ? "first" : "last") + " item, sequence was empty.");
        }
        return first ? items.getFirst() : items.getLast();
    }

    static Object items(Budget budget, Object value) {
        if (value instanceof Map<?, ?> map) {
            return Values.items(budget, map);
        }
        if (value instanceof Undefined) {
            return List.of();
        }
        throw new TemplateFailure("Can only get item pairs from a mapping.");
    }

    static Object reverse(Budget budget, Object value) {
        if (value instanceof String s) {
            return budget.made(new StringBuilder(s).reverse().toString());
        }
        List<Object> items = new ArrayList<>(Values.iterate(budget, value));
        Collections.reverse(items);
        return items;
    }

    static Object map(Budget budget, List<Object> items, Arguments args) {
        Object attribute = args.positional().isEmpty() ? args.named().get("attribute") : null;
        String filter = attribute == null ? Filters.named(Text.str(budget, args.need(0, "filter"))) : null;
        Arguments rest = args.from(1);
        List<Object> out = new ArrayList<>(items.size());
        for (Object item : items) {
            budget.step(1);
            if (filter != null) {
                out.add(Filters.apply(budget, filter, item, rest));
            } else {
                Object value = path(budget, item, attribute);
                out.add(value instanceof Undefined ? args.named().getOrDefault("default", value) : value);
            }
        }
        return out;
    }

    static Object select(Budget budget, List<Object> items, Arguments args, boolean keep, boolean byAttribute) {
        int next = byAttribute ? 1 : 0;
        Object attribute = byAttribute ? args.need(0, "attribute") : None.NONE;
        boolean plain = args.positional().size() <= next;
        String test = plain ? "" : Text.str(budget, args.positional().get(next));
        Arguments rest = args.from(next + 1);
        List<Object> out = new ArrayList<>();
        for (Object item : items) {
            budget.step(1);
            Object value = path(budget, item, attribute);
            if ((plain ? Values.truth(value) : Tests.holds(budget, test, value, rest)) == keep) {
                out.add(item);
            }
        }
        return out;
    }

    static Object batch(List<Object> items, Arguments args) {
        args.need(0, "linecount");
        int size = args.integer(0, "linecount", 1);
        if (size < 1) {
            throw new TemplateFailure("batch needs a positive number");
        }
        List<Object> out = new ArrayList<>();
        for (int from = 0; from < items.size(); from += size) {
            int to = (int) Math.min(items.size(), (long) from + size);
            List<Object> part = new ArrayList<>(items.subList(from, to));
            fill(part, size, args);
            out.add(part);
            if (to == items.size()) {
                break;
            }
        }
        return out;
    }

    private static void fill(List<Object> part, int size, Arguments args) {
        Object by = args.get(1, "fill_with", None.NONE);
        if (by != None.NONE && size > Budget.MAX_RANGE) {
            throw new TemplateFailure("a list is filled up to more than " + Budget.MAX_RANGE + " items");
        }
        while (by != None.NONE && part.size() < size) {
            part.add(by);
        }
    }
}
