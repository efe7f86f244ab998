package dev.tenon.platform.templates.values;

import java.util.Locale;
import java.util.Set;
import java.util.function.IntPredicate;

/// A method of Python's strings, bound to one.
///
/// @param self the string
/// @param name the method's name
record StringMethod(String self, String name) implements Callable {
    /// The names.
    static final Set<String> NAMES = Set.of(
            "capitalize", "count", "endswith", "find", "format", "index", "isalnum", "isalpha", "isdecimal",
            "isdigit", "islower", "isnumeric", "isspace", "isupper", "join", "lower", "lstrip", "partition",
            "removeprefix", "removesuffix", "replace", "rfind", "rindex", "rpartition", "rsplit", "rstrip",
            "split", "splitlines", "startswith", "strip", "title", "upper", "zfill");

    /// {@return a method bound to a string, or null}
    static Callable bound(String self, String name) {
        return NAMES.contains(name) ? new StringMethod(self, name) : null;
    }

    @Override
    public Object call(Budget budget, Arguments args) {
        String s = self;
        budget.step(s.length() / 64);
        return switch (name) {
            case "capitalize" -> budget.made(Strings.capitalize(s));
            case "count" -> count(s, args);
            case "endswith" -> affix(s, args, false);
            case "find" -> find(s, args, false, false);
            case "format" -> Format.fields(budget, s, args);
            case "index" -> find(s, args, false, true);
            case "isalnum" -> all(s, Character::isLetterOrDigit);
            case "isalpha" -> all(s, Character::isLetter);
            case "isdecimal", "isdigit", "isnumeric" -> all(s, Character::isDigit);
            case "islower" -> Strings.isCase(s, false);
            case "isspace" -> all(s, Text::isSpace);
            case "isupper" -> Strings.isCase(s, true);
            case "join" -> Strings.join(budget, s, Values.iterate(budget, args.need(0, "iterable")), true);
            case "lower" -> budget.made(s.toLowerCase(Locale.ROOT));
            case "lstrip" -> Strings.strip(s, args.get(0, "chars"), true, false);
            case "partition" -> partition(s, args.text(0, "sep"), false);
            case "removeprefix" -> {
                String prefix = args.text(0, "prefix");
                yield s.startsWith(prefix) ? s.substring(prefix.length()) : s;
            }
            case "removesuffix" -> {
                String suffix = args.text(0, "suffix");
                yield s.endsWith(suffix) ? s.substring(0, s.length() - suffix.length()) : s;
            }
            case "replace" ->
                Strings.replace(budget, s, args.text(0, "old"), args.text(1, "new"), args.integer(2, "count", -1));
            case "rfind" -> find(s, args, true, false);
            case "rindex" -> find(s, args, true, true);
            case "rpartition" -> partition(s, args.text(0, "sep"), true);
            case "rsplit" ->
                Strings.split(budget, s, args.get(0, "sep", None.NONE), args.integer(1, "maxsplit", -1), true);
            case "rstrip" -> Strings.strip(s, args.get(0, "chars"), false, true);
            case "split" ->
                Strings.split(budget, s, args.get(0, "sep", None.NONE), args.integer(1, "maxsplit", -1), false);
            case "splitlines" -> Strings.lines(budget, s, args.flag(0, "keepends", false));
            case "startswith" -> affix(s, args, true);
            case "strip" -> Strings.strip(s, args.get(0, "chars"), true, true);
            case "title" -> budget.made(Strings.title(s));
            case "upper" -> budget.made(s.toUpperCase(Locale.ROOT));
            case "zfill" -> zfill(budget, s, args.integer(0, "width", 0));
            default -> throw new TemplateFailure("there is no method '" + name + "'");
        };
    }

    private static boolean all(String s, IntPredicate holds) {
        return !s.isEmpty() && s.codePoints().allMatch(holds);
    }

    /// The part from the optional start to the optional end, which are arguments 1 and 2; null if there is none.
    private static int[] window(String s, Arguments args) {
        if (args.positional().size() < 2) {
            return new int[] {0, s.length()};
        }
        int n = Text.length(s);
        long from = Access.bound(args.get(1, "start"), n, 0, Integer.MAX_VALUE, 0);
        long to = Access.bound(args.get(2, "end", None.NONE), n, 0, n, n);
        return from > to ? null : new int[] {s.offsetByCodePoints(0, (int) from), s.offsetByCodePoints(0, (int) to)};
    }

    private static Object find(String s, Arguments args, boolean last, boolean must) {
        String part = args.text(0, "sub");
        int[] window = window(s, args);
        int at = -1;
        if (window != null) {
            String within = s.substring(window[0], window[1]);
            at = last ? within.lastIndexOf(part) : within.indexOf(part);
        }
        if (at < 0 && must) {
            throw new TemplateFailure("substring not found");
        }
        return at < 0 ? -1L : (long) s.codePointCount(0, window[0] + at);
    }

    private static Object count(String s, Arguments args) {
        String part = args.text(0, "sub");
        int[] window = window(s, args);
        if (window == null) {
            return 0L;
        }
        if (part.isEmpty()) {
            return s.codePointCount(window[0], window[1]) + 1L;
        }
        long n = 0;
        int at = s.indexOf(part, window[0]);
        while (at >= 0 && at + part.length() <= window[1]) {
            n++;
            at = s.indexOf(part, at + part.length());
        }
        return n;
    }

    private static boolean affix(String s, Arguments args, boolean start) {
        Object affix = args.need(0, start ? "prefix" : "suffix");
        int[] window = window(s, args);
        if (window == null) {
            return false;
        }
        String within = s.substring(window[0], window[1]);
        if (affix instanceof Tuple any) {
            for (Object one : any) {
                if (start ? within.startsWith(Text.need(one, "prefix")) : within.endsWith(Text.need(one, "suffix"))) {
                    return true;
                }
            }
            return false;
        }
        String text = Text.need(affix, start ? "prefix" : "suffix");
        return start ? within.startsWith(text) : within.endsWith(text);
    }

    private static Object partition(String s, String separator, boolean last) {
        if (separator.isEmpty()) {
            throw new TemplateFailure("empty separator");
        }
        int at = last ? s.lastIndexOf(separator) : s.indexOf(separator);
        if (at < 0) {
            return last ? Tuple.of("", "", s) : Tuple.of(s, "", "");
        }
        return Tuple.of(s.substring(0, at), separator, s.substring(at + separator.length()));
    }

    private static String zfill(Budget budget, String s, int width) {
        int missing = width - Text.length(s);
        budget.string((long) Math.max(0, missing) + s.length());
        boolean signed = s.startsWith("-") || s.startsWith("+");
        return missing <= 0 ? s : (signed ? s.substring(0, 1) : "") + "0".repeat(missing) + s.substring(signed ? 1 : 0);
    }
}
