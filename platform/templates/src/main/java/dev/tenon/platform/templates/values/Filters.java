package dev.tenon.platform.templates.values;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Jinja2's filters: what stands after `|`.
public final class Filters {
    static final Set<String> NAMES =
            Set.of(("abs attr batch capitalize count d default dictsort e escape first float format groupby indent "
                            + "int items join last length list lower map max min reject rejectattr replace reverse round safe "
                            + "select selectattr sort string sum title tojson trim unique upper wordcount")
                    .split(" "));

    private Filters() {}

    /// {@return the name of a filter, which must exist}
    public static String named(String name) {
        return known(NAMES, "filter", name);
    }

    static String known(Set<String> names, String kind, String name) {
        if (!names.contains(name)) {
            throw new TemplateFailure("there is no " + kind + " '" + name + "'");
        }
        return name;
    }

    /// {@return a filtered value}
    public static Object apply(Budget budget, String name, Object value, Arguments args) {
        return switch (name) {
            case "abs" -> Operators.compare(budget, "<", value, 0L) ? Operators.negate(value) : value;
            case "attr" -> Access.attribute(budget, value, args.text(0, "name"));
            case "batch" -> Sequences.batch(Values.iterate(budget, value), args);
            case "capitalize" -> budget.made(Text.capitalize(Text.str(budget, value)));
            case "default", "d" -> {
                boolean missing = value instanceof Undefined || (args.flag(1, "boolean") && !Values.truth(value));
                yield missing ? args.get(0, "default_value", "") : value;
            }
            case "dictsort" -> {
                Values.used(value);
                Object by = args.get(1, "by", "key").equals("value") ? 1L : 0L;
                List<Object> pairs = Values.items(budget, value);
                yield Sequences.sorted(budget, pairs, by, args.flag(0, "case_sensitive"), args.flag(2, "reverse"));
            }
            case "escape", "e" -> escape(budget, Text.str(budget, value));
            case "first" -> Sequences.edge(Values.iterate(budget, value), true);
            case "float" -> toFloat(value, args.get(0, "default", 0.0));
            case "format" -> Format.percent(budget, Text.str(budget, value), new Tuple(args.positional()));
            case "groupby" -> Sequences.groupBy(budget, Values.iterate(budget, value), args);
            case "indent" -> indent(budget, Text.str(budget, value), args);
            case "int" -> toInteger(value, args.get(0, "default", 0L), args.integer(1, "base", 10));
            case "items" -> Values.items(budget, value);
            case "join" -> Sequences.join(budget, Values.iterate(budget, value), args);
            case "last" -> Sequences.edge(Values.iterate(budget, value), false);
            case "length", "count" -> Values.length(value);
            case "list" -> List.copyOf(Values.iterate(budget, value));
            case "lower" -> budget.made(Text.str(budget, value).toLowerCase(Locale.ROOT));
            case "map" -> Sequences.map(budget, Values.iterate(budget, value), args);
            case "max", "min" -> {
                Object by = args.get(1, "attribute", Values.NONE);
                List<Object> items = Values.iterate(budget, value);
                boolean caseSensitive = args.flag(0, "case_sensitive");
                yield Sequences.edge(Sequences.sorted(budget, items, by, caseSensitive, name.equals("max")), true);
            }
            case "replace" -> replace(budget, Text.str(budget, value), args);
            case "reverse" ->
                value instanceof String s
                        ? Text.reverse(s)
                        : Values.iterate(budget, value).reversed();
            case "round" -> round(value, args.integer(0, "precision", 0), args.get(1, "method", "common"));
            case "safe", "string" -> Text.str(budget, value);
            case "select", "selectattr", "reject", "rejectattr" ->
                Sequences.select(budget, Values.iterate(budget, value), args, name);
            case "sort" -> {
                Object by = args.get(2, "attribute", Values.NONE);
                List<Object> items = Values.iterate(budget, value);
                yield Sequences.sorted(budget, items, by, args.flag(1, "case_sensitive"), args.flag(0, "reverse"));
            }
            case "sum" -> Sequences.sum(budget, Values.iterate(budget, value), args);
            case "title" -> budget.made(Text.title(Text.str(budget, value), true));
            case "tojson" -> Printer.json(budget, value, args);
            case "trim" -> Text.strip(Text.str(budget, value), args.get(0, "chars", Values.NONE), true, true);
            case "unique" -> Sequences.unique(budget, Values.iterate(budget, value), args);
            case "upper" -> budget.made(Text.str(budget, value).toUpperCase(Locale.ROOT));
            case "wordcount" -> Math.max(0L, (" " + Text.str(budget, value)).split("(?U)\\W+").length - 1L);
            default -> throw new TemplateFailure("there is no filter '" + name + "'");
        };
    }

    private static Object replace(Budget budget, String s, Arguments args) {
        String by = Text.str(budget, args.need(1, "new"));
        return Text.replace(budget, s, Text.str(budget, args.need(0, "old")), by, args.integer(2, "count", -1));
    }

    private static Object escape(Budget budget, String s) {
        return budget.made(s.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("'", "&#39;")
                .replace("\"", "&#34;"));
    }

    private static Object indent(Budget budget, String s, Arguments args) {
        String by = args.get(0, "width", 4L) instanceof String text
                ? text
                : " ".repeat(Math.clamp(args.integer(0, "width", 4), 0, 1000));
        boolean first = args.flag(1, "first");
        boolean blank = args.flag(2, "blank");
        List<Object> lines = Text.lines(budget, s.concat("\n"), false);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < lines.size(); i++) {
            String line = (String) lines.get(i);
            boolean indented = i == 0 ? first : blank || !line.isEmpty();
            Budget.check(
                    out.append(i == 0 ? "" : "\n").append(indented ? by : "").append(line));
        }
        return budget.made(out.toString());
    }

    private static Object toInteger(Object value, Object otherwise, int base) {
        if (value instanceof String s) {
            String digits = Text.strip(s, Values.NONE, true, true).replace("_", "");
            digits = base == 10 ? digits : digits.replaceFirst("^([+-]?)0[xXoObB]", "$1");
            try {
                return Long.parseLong(digits, Math.clamp(base, 2, 36));
            } catch (NumberFormatException e) {
                return toInteger(toFloat(digits, Double.NaN), otherwise, base);
            }
        }
        Values.used(value);
        if (value instanceof Double d) {
            return d.isNaN() || d.isInfinite() ? otherwise : (Object) (long) (double) d;
        }
        return Values.isInteger(value) ? (Object) Values.toLong(value) : otherwise;
    }

    private static Object toFloat(Object value, Object otherwise) {
        Values.used(value);
        if (value instanceof String text) {
            String s = Text.strip(text, Values.NONE, true, true);
            boolean number = s.length() < 400 && s.matches("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");
            return number ? Double.valueOf(s) : otherwise;
        }
        return Values.isNumber(value) ? (Object) Values.toDouble(value) : otherwise;
    }

    private static Object round(Object value, int precision, Object method) {
        Values.used(value);
        if (!Values.isNumber(value)) {
            throw new TemplateFailure("round needs a number, not " + Values.type(value));
        }
        if (Values.isInteger(value) && method.equals("common") && precision >= 0) {
            return value;
        }
        double d = Values.toDouble(value);
        if (Double.isNaN(d) || Double.isInfinite(d)) {
            return d;
        }
        RoundingMode mode = method.equals("ceil")
                ? RoundingMode.CEILING
                : method.equals("floor") ? RoundingMode.FLOOR : RoundingMode.HALF_EVEN;
        BigDecimal rounded = new BigDecimal(d).setScale(Math.clamp(precision, -18, 300), mode);
        return Values.isInteger(value) && method.equals("common")
                ? (Object) rounded.longValue()
                : rounded.doubleValue();
    }
}
