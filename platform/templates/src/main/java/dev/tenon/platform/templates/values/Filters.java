package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/// Jinja's filters: what stands after `|`.
public final class Filters {
    private static final Map<String, List<String>> NAMES = Signatures.of("""
            abs,capitalize,count,e,escape,first,forceescape,from_json,items,last,length,list,lower,pprint,random,reverse
            safe,string,title,upper,wordcount
            attr name
            batch linecount fill_with?
            center width?
            d,default default_value? boolean?
            dictsort case_sensitive? by? reverse?
            filesizeformat binary?
            float default?
            format *
            groupby attribute default? case_sensitive?
            indent width? first? blank?
            int default? base?
            join d? attribute?
            map,reject,rejectattr,select,selectattr *
            max,min case_sensitive? attribute?
            replace old new count?
            round precision? method?
            slice slices fill_with?
            sort reverse? case_sensitive? attribute?
            sum attribute? start?
            tojson ensure_ascii? indent? separators? sort_keys?
            trim chars?
            truncate length? killwords? end? leeway?
            unique case_sensitive? attribute?
            urlencode
            wordwrap width? break_long_words? wrapstring? break_on_hyphens?
            xmlattr autospace?""");
    /// Filters of Jinja for web pages; they exist, and refuse.
    private static final List<String> REFUSED = List.of("striptags", "urlize");

    private Filters() {}

    /// {@return whether there is a filter of this name}
    public static boolean exists(String name) {
        return NAMES.containsKey(name) || REFUSED.contains(name);
    }

    /// {@return a filtered value}
    public static Object apply(Budget budget, String name, Object value, Arguments args) {
        List<String> parameters = NAMES.get(name);
        if (parameters == null) {
            throw new TemplateFailure(
                    REFUSED.contains(name)
                            ? "the filter '" + name + "' is for web pages and not part of chat templates"
                            : "No filter named '" + name + "'.");
        }
        args.require("the filter '" + name + "'", parameters);
        return switch (name) {
            case "attr" ->
                Access.attributeOnly(
                        value, Text.str(budget, args.need(0, "name")).toString());
            case "d", "default" -> {
                boolean missing = value instanceof Undefined || (args.flag(1, "boolean") && !Values.truth(value));
                yield missing ? args.get(0, "default_value", Text.EMPTY) : value;
            }
            case "from_json" -> JsonReader.read(budget, Text.need(value, "value"));
            case "pprint" -> Printer.pretty(budget, value);
            case "safe", "string" -> Text.str(budget, value);
            case "tojson" -> Printer.json(budget, value, args);
            case "abs", "filesizeformat", "float", "int", "round" -> NumberFilters.apply(budget, name, value, args);
            case "batch",
                    "first",
                    "groupby",
                    "join",
                    "last",
                    "length",
                    "count",
                    "list",
                    "map",
                    "max",
                    "min",
                    "random",
                    "reject",
                    "rejectattr",
                    "reverse",
                    "select",
                    "selectattr",
                    "slice",
                    "sort",
                    "sum",
                    "unique",
                    "items",
                    "dictsort" -> sequence(budget, name, value, args);
            default -> TextFilters.apply(budget, name, value, args);
        };
    }

    private static Object sequence(Budget budget, String name, Object value, Arguments args) {
        return switch (name) {
            case "batch" ->
                new Generator(() ->
                        Sequences.batch(Values.iterate(budget, value), args).iterator());
            case "dictsort" -> Sequences.sortedDict(budget, value, args);
            case "first" -> {
                var items = Values.iterator(budget, value);
                yield items.hasNext() ? items.next() : new Undefined("No first item, sequence was empty.");
            }
            case "groupby" -> Sequences.groupBy(budget, Values.iterate(budget, value), args);
            case "items" -> new Generator(() -> Values.items(budget, value).iterator());
            case "join" -> Sequences.join(budget, Values.iterate(budget, value), args);
            case "last" -> {
                refuseGenerator(value, "is not reversible");
                List<Object> items = Values.iterate(budget, value);
                yield items.isEmpty() ? new Undefined("No last item, sequence was empty.") : items.getLast();
            }
            case "length", "count" -> Values.length(value);
            case "list" -> new ArrayList<>(Values.iterate(budget, value));
            case "map" -> new Generator(() -> Sequences.map(budget, value, args));
            case "max", "min" -> {
                Object by = args.get(1, "attribute", Values.NONE);
                List<Object> items = Values.iterate(budget, value);
                boolean caseSensitive = args.flag(0, "case_sensitive");
                List<Object> sorted = Sequences.sorted(budget, items, by, caseSensitive, name.equals("max"));
                yield sorted.isEmpty() ? new Undefined("No aggregated item, sequence was empty.") : sorted.getFirst();
            }
            case "random" -> {
                refuseGenerator(value, "has no len()");
                List<Object> items = Values.iterate(budget, value);
                yield items.isEmpty()
                        ? new Undefined("No random item, sequence was empty.")
                        : items.get(RandomGenerator.getDefault().nextInt(items.size()));
            }
            case "reverse" ->
                value instanceof Text text
                        ? text.reverse()
                        : reversed(value, Values.iterate(budget, value).reversed());
            case "slice" ->
                new Generator(() ->
                        Sequences.slice(Values.iterate(budget, value), args).iterator());
            case "sort" -> {
                Object by = args.get(2, "attribute", Values.NONE);
                List<Object> items = Values.iterate(budget, value);
                yield Sequences.sorted(budget, items, by, args.flag(1, "case_sensitive"), args.flag(0, "reverse"));
            }
            case "sum" -> Sequences.sum(budget, Values.iterate(budget, value), args);
            case "unique" -> new Generator(() -> Sequences.unique(budget, Values.iterate(budget, value), args));
            default -> new Generator(() -> Sequences.select(budget, value, args, name));
        };
    }

    private static Object reversed(Object value, List<Object> items) {
        return value instanceof Generator ? items : new Generator(items::iterator);
    }

    private static void refuseGenerator(Object value, String why) {
        if (value instanceof Generator) {
            throw new TemplateFailure("'generator' object " + why);
        }
    }
}
