package dev.tenon.platform.templates;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Jinja2's filters. The filtered value is the first argument.
final class Filters {
    private static final Map<String, Callable> FILTERS = Map.ofEntries(
            Map.entry("tojson", (f, a) -> PyJson.dump(f, a)),
            Map.entry("length", Filters::length),
            Map.entry("count", Filters::length),
            Map.entry("trim", (f, a) -> StringMethods.strip(text(f, a), a.get(1, "chars"), true, true)),
            Map.entry("string", (f, a) -> text(f, a)),
            Map.entry("safe", (f, a) -> text(f, a)),
            Map.entry("upper", (f, a) -> made(f, text(f, a).toUpperCase(Locale.ROOT))),
            Map.entry("lower", (f, a) -> made(f, text(f, a).toLowerCase(Locale.ROOT))),
            Map.entry("capitalize", (f, a) -> made(f, StringMethods.capitalize(text(f, a)))),
            Map.entry("title", (f, a) -> made(f, StringMethods.title(text(f, a)))),
            Map.entry(
                    "replace",
                    (f, a) -> StringMethods.replace(
                            f,
                            text(f, a),
                            PyText.str(f, a.need(1, "old")),
                            PyText.str(f, a.need(2, "new")),
                            a.get(3, "count", None.NONE) == None.NONE
                                    ? -1
                                    : PyOps.integerArgument(a.get(3, "count"), "count"))),
            Map.entry("default", Filters::otherwise),
            Map.entry("d", Filters::otherwise),
            Map.entry("list", (f, a) -> PyOps.iterate(f, a.need(0, "value"))),
            Map.entry("join", Filters::join),
            Map.entry("first", (f, a) -> edge(f, a, true)),
            Map.entry("last", (f, a) -> edge(f, a, false)),
            Map.entry("items", Filters::items),
            Map.entry("dictsort", Filters::dictSort),
            Map.entry("map", Filters::map),
            Map.entry("select", (f, a) -> select(f, a, true, false)),
            Map.entry("reject", (f, a) -> select(f, a, false, false)),
            Map.entry("selectattr", (f, a) -> select(f, a, true, true)),
            Map.entry("rejectattr", (f, a) -> select(f, a, false, true)),
            Map.entry("int", Filters::integer),
            Map.entry("float", Filters::floating),
            Map.entry(
                    "abs",
                    (f, a) -> PyOps.compare(f, "<", a.need(0, "value"), 0L)
                            ? PyOps.negate(a.need(0, "value"))
                            : a.need(0, "value")),
            Map.entry("round", Filters::round),
            Map.entry("sum", Filters::sum),
            Map.entry("min", (f, a) -> extreme(f, a, -1)),
            Map.entry("max", (f, a) -> extreme(f, a, 1)),
            Map.entry("reverse", Filters::reverse),
            Map.entry("sort", Filters::sort),
            Map.entry("unique", Filters::unique),
            Map.entry("groupby", Filters::groupBy),
            Map.entry("batch", Filters::batch),
            Map.entry("indent", Filters::indent),
            Map.entry("wordcount", (f, a) -> (long) text(f, a).strip().split("\\s+").length),
            Map.entry("attr", (f, a) -> PyOps.attribute(f, a.need(0, "value"), PyText.str(f, a.need(1, "name")))),
            Map.entry("escape", Filters::escape),
            Map.entry("e", Filters::escape),
            Map.entry("format", (f, a) -> PyText.format(f, text(f, a), a.from(1).positional())));

    private Filters() {}

    /// {@return a filter, or null}
    ///
    /// @param name its name
    static Callable get(String name) {
        return FILTERS.get(name);
    }

    private static String text(Frame frame, Callable.Args args) {
        return PyText.str(frame, args.need(0, "value"));
    }

    private static String made(Frame frame, String s) {
        frame.budget.string(s.length());
        return s;
    }

    private static Object length(Frame frame, Callable.Args args) {
        return switch (args.need(0, "value")) {
            case String s -> (long) PyText.length(s);
            case List<?> l -> (long) l.size();
            case Map<?, ?> m -> (long) m.size();
            case Undefined u -> 0L;
            case Object o -> throw new TemplateFailure("object of type '" + PyOps.type(o) + "' has no len()");
        };
    }

    private static Object otherwise(Frame frame, Callable.Args args) {
        Object value = args.need(0, "value");
        boolean replace =
                value instanceof Undefined || (PyOps.truth(args.get(2, "boolean", false)) && !PyOps.truth(value));
        return replace ? args.get(1, "default_value", "") : value;
    }

    private static Object join(Frame frame, Callable.Args args) {
        String separator = PyText.str(frame, args.get(1, "d", ""));
        Object attribute = args.get(2, "attribute", None.NONE);
        StringBuilder out = new StringBuilder();
        boolean first = true;
        for (Object item : PyOps.iterate(frame, args.need(0, "value"))) {
            Object value = attribute == None.NONE ? item : path(frame, item, attribute);
            out.append(first ? "" : separator).append(PyText.str(frame, value));
            first = false;
            if (out.length() > Budget.MAX_LENGTH) {
                break;
            }
        }
        return made(frame, out.toString());
    }

    private static Object edge(Frame frame, Callable.Args args, boolean first) {
        List<Object> items = PyOps.iterate(frame, args.need(0, "value"));
        if (items.isEmpty()) {
            return new Undefined("No " + (first ? "first" : "last") + " item, sequence was empty.");
        }
        return first ? items.getFirst() : items.getLast();
    }

    private static Object items(Frame frame, Callable.Args args) {
        return switch (args.need(0, "value")) {
            case Map<?, ?> m -> CollectionMethods.items(frame, m);
            case Undefined u -> List.of();
            default -> throw new TemplateFailure("Can only get item pairs from a mapping.");
        };
    }

    private static Object dictSort(Frame frame, Callable.Args args) {
        if (!(args.need(0, "value") instanceof Map<?, ?> map)) {
            throw new TemplateFailure("dictsort needs a mapping");
        }
        boolean caseSensitive = PyOps.truth(args.get(1, "case_sensitive", false));
        int by = "value".equals(args.get(2, "by", "key")) ? 1 : 0;
        List<Object> pairs = CollectionMethods.items(frame, map);
        return sorted(
                frame,
                pairs,
                pair -> ((List<?>) pair).get(by),
                caseSensitive,
                PyOps.truth(args.get(3, "reverse", false)));
    }

    private static Object map(Frame frame, Callable.Args args) {
        List<Object> out = new ArrayList<>();
        Object attribute = args.named().get("attribute");
        Callable filter = null;
        if (attribute == null) {
            String name = PyText.str(frame, args.need(1, "filter"));
            filter = get(name);
            if (filter == null) {
                throw new TemplateFailure("there is no filter '" + name + "'");
            }
        }
        for (Object item : PyOps.iterate(frame, args.need(0, "value"))) {
            if (filter != null) {
                out.add(filter.call(frame, Nodes.withFirst(item, args.from(2))));
            } else {
                Object value = path(frame, item, attribute);
                out.add(value instanceof Undefined ? args.named().getOrDefault("default", value) : value);
            }
        }
        return out;
    }

    private static Object select(Frame frame, Callable.Args args, boolean keep, boolean byAttribute) {
        int next = byAttribute ? 2 : 1;
        Object name = args.get(next, "test");
        Callable test = null;
        if (name != null) {
            test = TestFunctions.get(PyText.str(frame, name));
            if (test == null) {
                throw new TemplateFailure("there is no test '" + PyText.str(frame, name) + "'");
            }
        }
        List<Object> out = new ArrayList<>();
        for (Object item : PyOps.iterate(frame, args.need(0, "value"))) {
            Object value = byAttribute ? path(frame, item, args.need(1, "attribute")) : item;
            Object passes = test == null ? value : test.call(frame, Nodes.withFirst(value, args.from(next + 1)));
            if (PyOps.truth(passes) == keep) {
                out.add(item);
            }
        }
        return out;
    }

    /// {@return an attribute by a dotted path}
    private static Object path(Frame frame, Object item, Object attribute) {
        if (!(attribute instanceof String path)) {
            return PyOps.item(frame, item, attribute);
        }
        Object value = item;
        for (String name : path.split("\\.")) {
            value = PyOps.item(
                    frame, value, name.matches("[0-9]{1,9}") ? (Object) Long.parseLong(name) : (Object) name);
        }
        return value;
    }

    private static Object integer(Frame frame, Callable.Args args) {
        Object otherwise = args.get(1, "default", 0L);
        return switch (args.need(0, "value")) {
            case Long l -> l;
            case Boolean b -> b ? 1L : 0L;
            case Double d -> d.isNaN() || d.isInfinite() ? otherwise : (Object) (long) (double) d;
            case String s -> {
                String digits = s.strip().replace("_", "");
                try {
                    int base = PyOps.integerArgument(args.get(2, "base", 10L), "base");
                    yield Long.parseLong(digits, Math.clamp(base, 2, 36));
                } catch (NumberFormatException e) {
                    Double d = parsed(digits);
                    yield d == null || d.isNaN() || d.isInfinite() ? otherwise : (Object) (long) (double) d;
                }
            }
            default -> otherwise;
        };
    }

    private static Object floating(Frame frame, Callable.Args args) {
        Object otherwise = args.get(1, "default", 0.0);
        return switch (args.need(0, "value")) {
            case String s -> parsed(s.strip()) == null ? otherwise : parsed(s.strip());
            case Object o -> PyOps.isNumber(o) ? (Object) PyOps.number(o) : otherwise;
        };
    }

    private static Double parsed(String s) {
        return s.length() < 400 && s.matches("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?")
                ? Double.valueOf(s)
                : null;
    }

    private static Object round(Frame frame, Callable.Args args) {
        Object value = args.need(0, "value");
        PyOps.used(value);
        if (!PyOps.isNumber(value)) {
            throw new TemplateFailure("round needs a number, not " + PyOps.type(value));
        }
        int digits = Math.clamp(PyOps.integerArgument(args.get(1, "precision", 0L), "precision"), -15, 15);
        java.math.RoundingMode mode = switch (PyText.str(frame, args.get(2, "method", "common"))) {
            case "ceil" -> java.math.RoundingMode.CEILING;
            case "floor" -> java.math.RoundingMode.FLOOR;
            default -> java.math.RoundingMode.HALF_EVEN;
        };
        if (value instanceof Long && digits >= 0 && mode == java.math.RoundingMode.HALF_EVEN) {
            return value;
        }
        double d = PyOps.number(value);
        return Double.isNaN(d) || Double.isInfinite(d)
                ? d
                : new java.math.BigDecimal(d).setScale(digits, mode).doubleValue();
    }

    private static Object sum(Frame frame, Callable.Args args) {
        Object attribute = args.get(1, "attribute", None.NONE);
        Object total = args.get(2, "start", 0L);
        for (Object item : PyOps.iterate(frame, args.need(0, "value"))) {
            total = PyOps.binary(frame, "+", total, attribute == None.NONE ? item : path(frame, item, attribute));
        }
        return total;
    }

    private static Object extreme(Frame frame, Callable.Args args, int sign) {
        Object attribute = args.get(2, "attribute", None.NONE);
        List<Object> items = PyOps.iterate(frame, args.need(0, "value"));
        if (items.isEmpty()) {
            return new Undefined("No aggregated item, sequence was empty.");
        }
        List<Object> sorted = sorted(
                frame,
                items,
                item -> attribute == None.NONE ? item : path(frame, item, attribute),
                PyOps.truth(args.get(1, "case_sensitive", false)),
                sign > 0);
        return sorted.getFirst();
    }

    private static Object reverse(Frame frame, Callable.Args args) {
        if (args.need(0, "value") instanceof String s) {
            return made(frame, new StringBuilder(s).reverse().toString());
        }
        List<Object> items = PyOps.iterate(frame, args.need(0, "value"));
        Collections.reverse(items);
        return items;
    }

    private static Object sort(Frame frame, Callable.Args args) {
        Object attribute = args.get(3, "attribute", None.NONE);
        return sorted(
                frame,
                PyOps.iterate(frame, args.need(0, "value")),
                item -> attribute == None.NONE ? item : path(frame, item, attribute),
                PyOps.truth(args.get(2, "case_sensitive", false)),
                PyOps.truth(args.get(1, "reverse", false)));
    }

    private static List<Object> sorted(
            Frame frame,
            List<Object> items,
            java.util.function.UnaryOperator<Object> keyOf,
            boolean caseSensitive,
            boolean reverse) {
        Comparator<Object> order = (a, b) ->
                PyOps.order(frame, folded(keyOf.apply(a), caseSensitive), folded(keyOf.apply(b), caseSensitive), "<");
        List<Object> sorted = new ArrayList<>(items);
        sorted.sort(reverse ? order.reversed() : order);
        return sorted;
    }

    private static Object folded(Object value, boolean caseSensitive) {
        return value instanceof String s && !caseSensitive ? s.toLowerCase(Locale.ROOT) : value;
    }

    private static Object unique(Frame frame, Callable.Args args) {
        boolean caseSensitive = PyOps.truth(args.get(1, "case_sensitive", false));
        Object attribute = args.get(2, "attribute", None.NONE);
        Map<Object, Object> seen = new LinkedHashMap<>();
        for (Object item : PyOps.iterate(frame, args.need(0, "value"))) {
            Object value = attribute == None.NONE ? item : path(frame, item, attribute);
            seen.putIfAbsent(PyOps.key(folded(value, caseSensitive)), item);
        }
        return new ArrayList<>(seen.values());
    }

    private static Object groupBy(Frame frame, Callable.Args args) {
        Object attribute = args.need(1, "attribute");
        Map<Object, List<Object>> groups = new LinkedHashMap<>();
        List<Object> items = sorted(
                frame, PyOps.iterate(frame, args.need(0, "value")), i -> path(frame, i, attribute), false, false);
        for (Object item : items) {
            groups.computeIfAbsent(PyOps.key(path(frame, item, attribute)), k -> new ArrayList<>())
                    .add(item);
        }
        List<Object> out = new ArrayList<>();
        groups.forEach((k, v) -> out.add(PyTuple.pair(k, v)));
        return out;
    }

    private static Object batch(Frame frame, Callable.Args args) {
        int size = PyOps.integerArgument(args.need(1, "linecount"), "linecount");
        if (size < 1) {
            throw new TemplateFailure("batch needs a positive number");
        }
        List<Object> items = PyOps.iterate(frame, args.need(0, "value"));
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < items.size(); i += Math.min(size, items.size())) {
            out.add(new ArrayList<>(items.subList(i, (int) Math.min(items.size(), (long) i + size))));
        }
        return out;
    }

    private static Object indent(Frame frame, Callable.Args args) {
        Object width = args.get(1, "width", 4L);
        String by =
                width instanceof String s ? s : " ".repeat(Math.clamp(PyOps.integerArgument(width, "width"), 0, 1000));
        boolean first = PyOps.truth(args.get(2, "first", false));
        boolean blank = PyOps.truth(args.get(3, "blank", false));
        String[] lines = text(frame, args).split("\n", -1);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < lines.length; i++) {
            boolean indented = i == 0 ? first : blank || !lines[i].isEmpty();
            out.append(i == 0 ? "" : "\n").append(indented ? by : "").append(lines[i]);
            frame.budget.step(1);
            if (out.length() > Budget.MAX_LENGTH) {
                break;
            }
        }
        return made(frame, out.toString());
    }

    private static Object escape(Frame frame, Callable.Args args) {
        String s = text(frame, args);
        return made(
                frame,
                s.replace("&", "&amp;")
                        .replace("<", "&lt;")
                        .replace(">", "&gt;")
                        .replace("'", "&#39;")
                        .replace("\"", "&#34;"));
    }
}
