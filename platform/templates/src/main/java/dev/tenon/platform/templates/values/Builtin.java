package dev.tenon.platform.templates.values;

import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/// A function of chat templates, or a method of strings, dictionaries and lists.
///
/// @param self what a method is bound to; the clock for functions
/// @param name its name
public record Builtin(Object self, String name) implements Callable {
    private static final Set<String> FUNCTIONS =
            Set.of("range", "namespace", "dict", "raise_exception", "strftime_now");
    static final Set<String> OF_STRINGS = Set.of(("capitalize count endswith find format index isalnum isalpha "
                    + "isdecimal isdigit islower isnumeric isspace isupper join lower lstrip partition removeprefix "
                    + "removesuffix replace rfind rindex rpartition rsplit rstrip split splitlines startswith strip "
                    + "title upper zfill")
            .split(" "));
    private static final Set<String> WITHOUT_RANGE =
            Set.of("count", "endswith", "find", "index", "rfind", "rindex", "startswith");
    private static final Set<String> OF_DICTS = Set.of("items", "keys", "values", "get", "copy");
    private static final Set<String> OF_LISTS = Set.of("index", "count", "copy");
    private static final Set<String> CHANGERS =
            Set.of(("append clear extend insert pop popitem remove reverse setdefault sort update").split(" "));

    /// What `namespace()` makes: attributes that `set` may change from inner scopes, in place.
    public record Namespace(Map<Object, Object> attributes) {}

    /// {@return a function, or null if there is none of this name}
    public static Object function(String name, Clock clock) {
        return FUNCTIONS.contains(name) ? new Builtin(clock, name) : null;
    }

    /// {@return a bound method, or null; those that change the value are undefined, as in Jinja2's immutable sandbox}
    static Object method(Object self, String name) {
        boolean string = self instanceof String;
        Set<String> names = string ? OF_STRINGS : self instanceof Map ? OF_DICTS : OF_LISTS;
        if (names.contains(name)) {
            return new Builtin(self, name);
        }
        String refused = "access to attribute '" + name + "' of '" + Values.type(self) + "' object is unsafe.";
        return !string && CHANGERS.contains(name) ? new Undefined(refused) : null;
    }

    @Override
    public Object call(Budget budget, Arguments args) {
        return switch (self) {
            case String s -> ofString(budget, s, args);
            case Map<?, ?> map -> ofDict(budget, map, args);
            case List<?> list -> ofList(budget, list, args);
            default -> function(budget, (Clock) self, args);
        };
    }

    private Object function(Budget budget, Clock clock, Arguments args) {
        return switch (name) {
            case "range" -> range(budget, args);
            case "namespace" -> new Namespace(merged(budget, args));
            case "dict" -> merged(budget, args);
            case "strftime_now" -> Strftime.format(budget, args.text(0, "format"), clock);
            default -> throw new TemplateFailure(Text.str(budget, args.need(0, "message")));
        };
    }

    private static Object range(Budget budget, Arguments args) {
        args.need(0, "stop");
        boolean one = args.positional().size() < 2;
        long start = one ? 0 : args.integer(0, "start", 0);
        long stop = args.integer(one ? 0 : 1, "stop", 0);
        long step = args.integer(2, "step", 1);
        if (step == 0) {
            throw new TemplateFailure("range() arg 3 must not be zero");
        }
        long n = Math.max(0, Math.ceilDiv(stop - start, step));
        if (n > Budget.MAX_RANGE) {
            throw new TemplateFailure("Range too big. A range has at most " + Budget.MAX_RANGE + " items.");
        }
        budget.step(n);
        List<Object> values = new ArrayList<>((int) n);
        for (long i = 0; i < n; i++) {
            values.add(start + i * step);
        }
        return values;
    }

    private static Map<Object, Object> merged(Budget budget, Arguments args) {
        Map<Object, Object> all = new LinkedHashMap<>();
        for (Object arg : args.positional()) {
            for (Object pair : arg instanceof Map ? Values.items(budget, arg) : Values.iterate(budget, arg)) {
                if (!(pair instanceof List<?> two) || two.size() != 2) {
                    throw new TemplateFailure("dict() needs pairs");
                }
                all.put(Values.key(two.get(0)), two.get(1));
            }
        }
        all.putAll(args.named());
        return all;
    }

    private Object ofDict(Budget budget, Map<?, ?> map, Arguments args) {
        return switch (name) {
            case "items" -> Values.items(budget, map);
            case "keys" -> Values.iterate(budget, map);
            case "values" -> new ArrayList<Object>(map.values());
            case "get" -> {
                Object value = map.get(Values.key(args.need(0, "key")));
                yield value != null ? value : args.get(1, "default", Values.NONE);
            }
            default -> map;
        };
    }

    private Object ofList(Budget budget, List<?> list, Arguments args) {
        if (name.equals("copy")) {
            return list;
        }
        List<Object> found = new ArrayList<>();
        for (long i = 0; i < list.size(); i++) {
            if (Values.equal(budget, list.get((int) i), args.need(0, "value"))) {
                found.add(i);
            }
        }
        if (name.equals("index") && found.isEmpty()) {
            throw new TemplateFailure("the value is not in list");
        }
        return name.equals("index") ? found.getFirst() : (Object) Values.length(found);
    }

    private Object ofString(Budget budget, String s, Arguments args) {
        budget.step(s.length() / 64);
        if (args.positional().size() > 1 && WITHOUT_RANGE.contains(name)) {
            throw new TemplateFailure("str." + name + "() takes one argument here");
        }
        return switch (name) {
            case "capitalize" -> budget.made(Text.capitalize(s));
            case "count" -> count(s, args.text(0, "sub"));
            case "endswith" -> affix(s, args.need(0, "suffix"), false);
            case "find", "index", "rfind", "rindex" -> find(s, args.text(0, "sub"));
            case "format" -> Format.fields(budget, s, args);
            case "isalnum" -> all(s, Character::isLetterOrDigit);
            case "isalpha" -> all(s, Character::isLetter);
            case "isdecimal", "isdigit", "isnumeric" -> all(s, Character::isDigit);
            case "islower" -> Text.isCase(s, false);
            case "isspace" -> all(s, Text::isSpace);
            case "isupper" -> Text.isCase(s, true);
            case "join" -> Text.join(budget, s, Values.iterate(budget, args.need(0, "iterable")), true);
            case "lower" -> budget.made(s.toLowerCase(Locale.ROOT));
            case "lstrip" -> Text.strip(s, args.get(0, "chars", Values.NONE), true, false);
            case "partition" -> partition(s, args.text(0, "sep"), s.indexOf(args.text(0, "sep")));
            case "removeprefix" ->
                s.startsWith(args.text(0, "prefix"))
                        ? s.substring(args.text(0, "").length())
                        : s;
            case "removesuffix" ->
                s.endsWith(args.text(0, "suffix"))
                        ? s.substring(0, s.length() - args.text(0, "").length())
                        : s;
            case "replace" ->
                Text.replace(budget, s, args.text(0, "old"), args.text(1, "new"), args.integer(2, "count", -1));
            case "rpartition" -> partition(s, args.text(0, "sep"), s.lastIndexOf(args.text(0, "sep")));
            case "rsplit" ->
                Text.splitRight(budget, s, args.get(0, "sep", Values.NONE), args.integer(1, "maxsplit", -1));
            case "rstrip" -> Text.strip(s, args.get(0, "chars", Values.NONE), false, true);
            case "split" -> Text.split(budget, s, args.get(0, "sep", Values.NONE), args.integer(1, "maxsplit", -1));
            case "splitlines" -> Text.lines(budget, s, args.flag(0, "keepends"));
            case "startswith" -> affix(s, args.need(0, "prefix"), true);
            case "strip" -> Text.strip(s, args.get(0, "chars", Values.NONE), true, true);
            case "title" -> budget.made(Text.title(s, false));
            case "upper" -> budget.made(s.toUpperCase(Locale.ROOT));
            case "zfill" -> zfill(budget, s, args.integer(0, "width", 0));
            default -> throw new TemplateFailure("there is no method '" + name + "'");
        };
    }

    private static boolean all(String s, IntPredicate holds) {
        return !s.isEmpty() && s.codePoints().allMatch(holds);
    }

    private Object find(String s, String sub) {
        int at = name.startsWith("r") ? s.lastIndexOf(sub) : s.indexOf(sub);
        if (at < 0 && name.endsWith("index")) {
            throw new TemplateFailure("substring not found");
        }
        return at < 0 ? -1L : (long) s.codePointCount(0, at);
    }

    private static long count(String s, String part) {
        long n = part.isEmpty() ? Text.length(s) + 1L : 0;
        for (int at = s.indexOf(part); at >= 0 && !part.isEmpty(); at = s.indexOf(part, at + part.length())) {
            n++;
        }
        return n;
    }

    private static boolean affix(String s, Object affix, boolean start) {
        boolean found = false;
        for (Object one : affix instanceof Tuple any ? any : List.of(affix)) {
            String text = Text.need(one, "affix");
            found |= start ? s.startsWith(text) : s.endsWith(text);
        }
        return found;
    }

    private Object partition(String s, String separator, int at) {
        if (at < 0) {
            return name.startsWith("r") ? Tuple.of("", "", s) : Tuple.of(s, "", "");
        }
        return Tuple.of(s.substring(0, at), separator, s.substring(at + separator.length()));
    }

    private static String zfill(Budget budget, String s, int width) {
        int missing = Math.max(0, width - Text.length(s));
        budget.string((long) missing + s.length());
        int sign = s.startsWith("-") || s.startsWith("+") ? 1 : 0;
        return s.substring(0, sign) + "0".repeat(missing) + s.substring(sign);
    }
}
