package dev.tenon.platform.templates.values;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Jinja2's filters: what stands after `|`.
public final class Filters {
    /// The names.
    static final Set<String> NAMES = Set.of(
            "abs", "attr", "batch", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first",
            "float", "format", "groupby", "indent", "int", "items", "join", "last", "length", "list", "lower",
            "map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round", "safe", "select",
            "selectattr", "sort", "string", "sum", "title", "tojson", "trim", "unique", "upper", "wordcount");

    private Filters() {}

    /// {@return the name of a filter, which must exist}
    public static String named(String name) {
        if (!NAMES.contains(name)) {
            throw new TemplateFailure("there is no filter '" + name + "'");
        }
        return name;
    }

    /// {@return a filtered value}
    public static Object apply(Budget budget, String name, Object value, Arguments args) {
        return switch (name) {
            case "abs" -> abs(budget, value);
            case "attr" -> Access.attribute(budget, value, args.text(0, "name"));
            case "batch" -> Sequences.batch(Values.iterate(budget, value), args);
            case "capitalize" -> budget.made(Strings.capitalize(Text.str(budget, value)));
            case "default", "d" -> otherwise(value, args);
            case "dictsort" -> Sequences.dictSort(budget, value, args);
            case "escape", "e" -> escape(budget, Text.str(budget, value));
            case "first" -> Sequences.edge(Values.iterate(budget, value), true);
            case "float" -> Conversions.toFloat(value, args.get(0, "default", 0.0));
            case "format" -> Format.percent(budget, Text.str(budget, value), formatArguments(args));
            case "groupby" -> Sequences.groupBy(budget, Values.iterate(budget, value), args);
            case "indent" -> indent(budget, Text.str(budget, value), args);
            case "int" -> Conversions.toInteger(value, args.get(0, "default", 0L), args.integer(1, "base", 10));
            case "items" -> Sequences.items(budget, value);
            case "join" -> Sequences.join(budget, Values.iterate(budget, value), args);
            case "last" -> Sequences.edge(Values.iterate(budget, value), false);
            case "length", "count" -> Values.length(value);
            case "list" -> List.copyOf(Values.iterate(budget, value));
            case "lower" -> budget.made(Text.str(budget, value).toLowerCase(Locale.ROOT));
            case "map" -> Sequences.map(budget, Values.iterate(budget, value), args);
            case "max" -> Sequences.extreme(budget, Values.iterate(budget, value), args, 1);
            case "min" -> Sequences.extreme(budget, Values.iterate(budget, value), args, -1);
            case "reject" -> Sequences.select(budget, Values.iterate(budget, value), args, false, false);
            case "rejectattr" -> Sequences.select(budget, Values.iterate(budget, value), args, false, true);
            case "replace" -> replace(budget, Text.str(budget, value), args);
            case "reverse" -> Sequences.reverse(budget, value);
            case "round" -> Conversions.round(value, args.integer(0, "precision", 0), args.get(1, "method", "common"));
            case "safe", "string" -> Text.str(budget, value);
            case "select" -> Sequences.select(budget, Values.iterate(budget, value), args, true, false);
            case "selectattr" -> Sequences.select(budget, Values.iterate(budget, value), args, true, true);
            case "sort" -> Sequences.sort(budget, Values.iterate(budget, value), args);
            case "sum" -> Sequences.sum(budget, Values.iterate(budget, value), args);
            case "title" -> budget.made(title(Text.str(budget, value)));
            case "tojson" -> Json.dump(budget, value, args);
            case "trim" -> Strings.strip(Text.str(budget, value), args.get(0, "chars"), true, true);
            case "unique" -> Sequences.unique(budget, Values.iterate(budget, value), args);
            case "upper" -> budget.made(Text.str(budget, value).toUpperCase(Locale.ROOT));
            case "wordcount" -> wordCount(Text.str(budget, value));
            default -> throw new TemplateFailure("there is no filter '" + name + "'");
        };
    }

    private static Object abs(Budget budget, Object value) {
        return Comparison.LT.holds(budget, value, 0L) ? Numbers.negate(value) : value;
    }

    private static Object otherwise(Object value, Arguments args) {
        boolean replace = value instanceof Undefined || (args.flag(1, "boolean", false) && !Values.truth(value));
        return replace ? args.get(0, "default_value", "") : value;
    }

    private static Object formatArguments(Arguments args) {
        if (args.named().isEmpty()) {
            return new Tuple(args.positional());
        }
        if (!args.positional().isEmpty()) {
            throw new TemplateFailure("can't handle positional and keyword arguments at the same time");
        }
        return args.named();
    }

    private static Object replace(Budget budget, String s, Arguments args) {
        String old = Text.str(budget, args.need(0, "old"));
        String by = Text.str(budget, args.need(1, "new"));
        return Strings.replace(budget, s, old, by, args.integer(2, "count", -1));
    }

    private static Object escape(Budget budget, String s) {
        return budget.made(s.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("'", "&#39;")
                .replace("\"", "&#34;"));
    }

    private static Object indent(Budget budget, String s, Arguments args) {
        Object width = args.get(0, "width", 4L);
        String by =
                width instanceof String t ? t : " ".repeat(Math.clamp(Numbers.integerArgument(width, "width"), 0, 1000));
        boolean first = args.flag(1, "first", false);
        boolean blank = args.flag(2, "blank", false);
        List<Object> lines = Strings.lines(budget, s.concat("\n"), false);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < lines.size(); i++) {
            String line = (String) lines.get(i);
            boolean indented = i == 0 ? first : blank || !line.isEmpty();
            out.append(i == 0 ? "" : "\n").append(indented ? by : "").append(line);
            Budget.check(out);
        }
        return budget.made(out.toString());
    }

    /// Words begin after white space, `-` and opening brackets; unlike the method, an apostrophe begins none.
    private static String title(String s) {
        StringBuilder out = new StringBuilder();
        boolean inWord = false;
        for (int i = 0; i < s.length(); i += Character.charCount(s.codePointAt(i))) {
            int c = s.codePointAt(i);
            String letter = Character.toString(c);
            out.append(inWord ? letter.toLowerCase(Locale.ROOT) : letter.toUpperCase(Locale.ROOT));
            inWord = !Text.isSpace(c) && "-({[<".indexOf(c) < 0;
        }
        return out.toString();
    }

    private static long wordCount(String s) {
        long n = 0;
        boolean inWord = false;
        for (int i = 0; i < s.length(); i += Character.charCount(s.codePointAt(i))) {
            boolean word = Character.isLetterOrDigit(s.codePointAt(i)) || s.charAt(i) == '_';
            n += word && !inWord ? 1 : 0;
            inWord = word;
        }
        return n;
    }
}
