package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/// The filters on sequences.
final class Sequences {
    private static final List<String> GROUP = List.of("grouper", "list");

    private Sequences() {}

    /// {@return an attribute by a dotted path, or the item itself if there is none}
    ///
    /// @param otherwise what stands for one that is undefined; may be null
    private static Object path(Budget budget, Object item, Object attribute, Object otherwise) {
        if (!(attribute instanceof Text path)) {
            return attribute == Values.NONE ? item : Access.item(budget, item, attribute);
        }
        Object value = item;
        for (String name : path.toString().split("\\.", -1)) {
            boolean index = name.matches("[0-9]{1,9}");
            value = Access.item(budget, value, index ? (Object) Long.valueOf(name) : Text.of(name));
            value = value instanceof Undefined && otherwise != null ? otherwise : value;
        }
        return value;
    }

    private static Object folded(Object value, boolean caseSensitive) {
        return value instanceof Text text && !caseSensitive ? text.lower() : value;
    }

    /// {@return items in the order of an attribute, of several with commas between, or their own
    ///     if it is `None`}
    static List<Object> sorted(
            Budget budget, List<Object> items, Object attribute, boolean caseSensitive, boolean reverse) {
        List<Object> attributes = new ArrayList<>(List.of(attribute));
        if (attribute instanceof Text names && names.toString().contains(",")) {
            attributes.clear();
            Stream.of(names.toString().split(",")).map(Text::of).forEach(attributes::add);
        }
        Comparator<Object> order = (a, b) -> {
            for (Object each : attributes) {
                Object x = folded(path(budget, a, each, null), caseSensitive);
                Object y = folded(path(budget, b, each, null), caseSensitive);
                if (!Values.equal(budget, x, y)) {
                    return Operators.order(budget, "<", x, y);
                }
            }
            return 0;
        };
        List<Object> sorted = new ArrayList<>(items);
        sorted.sort(reverse ? order.reversed() : order);
        return sorted;
    }

    static List<Object> sortedDict(Budget budget, Object value, Arguments args) {
        Values.used(value);
        String by = Text.need(args.get(1, "by", Text.of("key")), "by").toString();
        if (!by.equals("key") && !by.equals("value")) {
            throw new TemplateFailure("You can only sort by either \"key\" or \"value\"");
        }
        List<Object> pairs = Values.items(budget, value);
        return sorted(
                budget, pairs, by.equals("key") ? 0L : 1L, args.flag(0, "case_sensitive"), args.flag(2, "reverse"));
    }

    static Iterator<Object> unique(Budget budget, List<Object> items, Arguments args) {
        boolean caseSensitive = args.flag(0, "case_sensitive");
        Map<Object, Object> seen = new LinkedHashMap<>();
        for (Object item : items) {
            Object value = path(budget, item, args.get(1, "attribute", Values.NONE), null);
            seen.putIfAbsent(Values.key(folded(value, caseSensitive)), item);
        }
        return seen.values().iterator();
    }

    static Object groupBy(Budget budget, List<Object> items, Arguments args) {
        Object attribute = args.need(0, "attribute");
        Object otherwise = args.get(1, "default", Values.NONE);
        Object missing = otherwise == Values.NONE ? null : otherwise;
        boolean caseSensitive = args.flag(2, "case_sensitive");
        List<Object> keyed = new ArrayList<>();
        items.forEach(item -> keyed.add(Tuple.of(path(budget, item, attribute, missing), item)));
        List<Object> out = new ArrayList<>();
        Object last = null;
        List<Object> group = List.of();
        for (Object pair : sorted(budget, keyed, 0L, caseSensitive, false)) {
            Object key = ((Tuple) pair).get(0);
            if (last == null || !Values.equal(budget, folded(key, caseSensitive), folded(last, caseSensitive))) {
                group = new ArrayList<>();
                out.add(new Tuple(List.of(key, group), GROUP));
                last = key;
            }
            group.add(((Tuple) pair).get(1));
        }
        return out;
    }

    static Object sum(Budget budget, List<Object> items, Arguments args) {
        Object total = args.get(1, "start", 0L);
        for (Object item : items) {
            Object each = path(budget, item, args.get(0, "attribute", Values.NONE), null);
            if (total instanceof Text) {
                throw new TemplateFailure("sum() can't sum strings [use ''.join(seq) instead]");
            }
            total = Operators.binary(budget, "+", total, each);
        }
        return total;
    }

    static Object join(Budget budget, List<Object> items, Arguments args) {
        List<Object> values = new ArrayList<>(items.size());
        for (Object item : items) {
            values.add(path(budget, item, args.get(1, "attribute", Values.NONE), null));
        }
        return Splits.join(budget, Text.str(budget, args.get(0, "d", Text.EMPTY)), values, false);
    }

    /// {@return the items of a value, none of a false one}
    private static Stream<Object> stream(Budget budget, Object value) {
        Iterator<Object> items = Values.truth(value) ? Values.iterator(budget, value) : Collections.emptyIterator();
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(items, Spliterator.ORDERED), false)
                .peek(item -> budget.step(1));
    }

    static Iterator<Object> map(Budget budget, Object value, Arguments args) {
        if (!Values.truth(value)) {
            return Collections.emptyIterator();
        }
        Object attribute = args.positional().isEmpty() ? args.named().get("attribute") : null;
        if (attribute != null) {
            Object otherwise = args.named().get("default");
            Object missing = otherwise == Values.NONE ? null : otherwise;
            if (args.named().size() > (otherwise == null ? 1 : 2)) {
                throw new TemplateFailure("map with an attribute takes only a default besides");
            }
            return stream(budget, value)
                    .map(item -> path(budget, item, attribute, missing))
                    .iterator();
        }
        if (args.positional().isEmpty()) {
            throw new TemplateFailure("map requires a filter argument");
        }
        String filter = args.text(0, "filter").toString();
        Arguments rest = args.from(1);
        return stream(budget, value)
                .map(item -> Filters.apply(budget, filter, item, rest))
                .iterator();
    }

    static Iterator<Object> select(Budget budget, Object value, Arguments args, String name) {
        if (!Values.truth(value)) {
            return Collections.emptyIterator();
        }
        boolean byAttribute = name.endsWith("attr");
        int next = byAttribute ? 1 : 0;
        if (byAttribute && args.positional().isEmpty()) {
            throw new TemplateFailure("Missing parameter for attribute name");
        }
        Object attribute = byAttribute ? args.positional().getFirst() : Values.NONE;
        boolean plain = args.positional().size() <= next;
        String test = plain ? "" : args.text(next, "test").toString();
        Arguments rest = args.from(next + 1);
        return stream(budget, value)
                .filter(item -> {
                    Object each = path(budget, item, attribute, null);
                    boolean holds = plain ? Values.truth(each) : Tests.holds(budget, test, each, rest);
                    return holds == name.startsWith("select");
                })
                .iterator();
    }

    static List<Object> batch(List<Object> items, Arguments args) {
        int size = positive(args.integer(0, "linecount", 0), "batch");
        List<Object> out = new ArrayList<>();
        for (int from = 0; from < items.size(); from += Math.min(size, items.size())) {
            out.add(filled(items.subList(from, (int) Math.min(items.size(), (long) from + size)), size, args));
        }
        return out;
    }

    static List<Object> slice(List<Object> items, Arguments args) {
        int slices = positive(args.integer(0, "slices", 0), "slice");
        int each = items.size() / slices;
        int longer = items.size() % slices;
        List<Object> out = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < Math.min(slices, Budget.MAX_RANGE); i++) {
            int to = from + each + (i < longer ? 1 : 0);
            out.add(filled(items.subList(from, to), i < longer ? 0 : to - from + 1, args));
            from = to;
        }
        return out;
    }

    private static int positive(int n, String filter) {
        if (n < 1) {
            throw new TemplateFailure(filter + " needs a positive number");
        }
        return n;
    }

    /// {@return items, with what fills them up to a size}
    private static List<Object> filled(List<Object> items, int size, Arguments args) {
        List<Object> all = new ArrayList<>(items);
        Object fill = args.get(1, "fill_with", Values.NONE);
        while (fill != Values.NONE && all.size() < Math.min(size, Budget.MAX_RANGE)) {
            all.add(fill);
        }
        return all;
    }
}
