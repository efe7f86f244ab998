package dev.tenon.platform.templates;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Methods of Python's strings.
final class StringMethods {
    private StringMethods() {}

    /// Code of a method.
    @FunctionalInterface
    private interface Method {
        Object call(Frame frame, String self, Callable.Args args);
    }

    private static final Map<String, Method> METHODS = Map.ofEntries(
            Map.entry("strip", (f, s, a) -> strip(s, a.get(0, "chars"), true, true)),
            Map.entry("lstrip", (f, s, a) -> strip(s, a.get(0, "chars"), true, false)),
            Map.entry("rstrip", (f, s, a) -> strip(s, a.get(0, "chars"), false, true)),
            Map.entry("split", (f, s, a) -> split(f, s, a.get(0, "sep", None.NONE), limit(a), false)),
            Map.entry("rsplit", (f, s, a) -> split(f, s, a.get(0, "sep", None.NONE), limit(a), true)),
            Map.entry("splitlines", (f, s, a) -> splitLines(f, s, PyOps.truth(a.get(0, "keepends", false)))),
            Map.entry("startswith", (f, s, a) -> affix(s, a, true)),
            Map.entry("endswith", (f, s, a) -> affix(s, a, false)),
            Map.entry("upper", (f, s, a) -> made(f, s.toUpperCase(Locale.ROOT))),
            Map.entry("lower", (f, s, a) -> made(f, s.toLowerCase(Locale.ROOT))),
            Map.entry("title", (f, s, a) -> made(f, title(s))),
            Map.entry("capitalize", (f, s, a) -> made(f, capitalize(s))),
            Map.entry(
                    "replace",
                    (f, s, a) -> replace(
                            f,
                            s,
                            text(a.need(0, "old"), "old"),
                            text(a.need(1, "new"), "new"),
                            PyOps.integerArgument(a.get(2, "count", -1L), "count"))),
            Map.entry("find", (f, s, a) -> find(s, s.indexOf(text(a.need(0, "sub"), "sub")))),
            Map.entry("rfind", (f, s, a) -> find(s, s.lastIndexOf(text(a.need(0, "sub"), "sub")))),
            Map.entry("index", (f, s, a) -> index(s, text(a.need(0, "sub"), "sub"))),
            Map.entry("count", (f, s, a) -> count(s, text(a.need(0, "sub"), "sub"))),
            Map.entry("join", (f, s, a) -> join(f, s, a.need(0, "iterable"))),
            Map.entry("removeprefix", (f, s, a) -> {
                String prefix = text(a.need(0, "prefix"), "prefix");
                return s.startsWith(prefix) ? s.substring(prefix.length()) : s;
            }),
            Map.entry("removesuffix", (f, s, a) -> {
                String suffix = text(a.need(0, "suffix"), "suffix");
                return s.endsWith(suffix) ? s.substring(0, s.length() - suffix.length()) : s;
            }),
            Map.entry("isspace", (f, s, a) -> !s.isEmpty() && s.chars().allMatch(c -> PyText.isSpace((char) c))),
            Map.entry("isdigit", (f, s, a) -> !s.isEmpty() && s.codePoints().allMatch(Character::isDigit)),
            Map.entry("isalpha", (f, s, a) -> !s.isEmpty() && s.codePoints().allMatch(Character::isLetter)),
            Map.entry("isalnum", (f, s, a) -> !s.isEmpty() && s.codePoints().allMatch(Character::isLetterOrDigit)),
            Map.entry("isupper", (f, s, a) -> cased(s) && s.equals(s.toUpperCase(Locale.ROOT))),
            Map.entry("islower", (f, s, a) -> cased(s) && s.equals(s.toLowerCase(Locale.ROOT))),
            Map.entry("zfill", (f, s, a) -> zfill(f, s, PyOps.integerArgument(a.need(0, "width"), "width"))),
            Map.entry("partition", (f, s, a) -> partition(s, text(a.need(0, "sep"), "sep"))),
            Map.entry("format", StringMethods::format));

    /// {@return a method bound to a string, or null}
    ///
    /// @param self the string
    /// @param name the method's name
    static Callable get(String self, String name) {
        Method method = METHODS.get(name);
        return method == null
                ? null
                : (frame, args) -> {
                    frame.budget.step(self.length() / 64);
                    return method.call(frame, self, args);
                };
    }

    private static String made(Frame frame, String s) {
        frame.budget.string(s.length());
        return s;
    }

    private static String text(Object value, String name) {
        PyOps.used(value);
        if (value instanceof String s) {
            return s;
        }
        throw new TemplateFailure("'" + name + "' must be str, not " + PyOps.type(value));
    }

    private static int limit(Callable.Args args) {
        return PyOps.integerArgument(args.get(1, "maxsplit", -1L), "maxsplit");
    }

    /// {@return a string without white space, or the given characters, at its ends}
    static String strip(String s, Object chars, boolean left, boolean right) {
        String set = chars == null || chars == None.NONE ? null : text(chars, "chars");
        int from = 0;
        int to = s.length();
        while (left && from < to && strips(set, s.charAt(from))) {
            from++;
        }
        while (right && to > from && strips(set, s.charAt(to - 1))) {
            to--;
        }
        return s.substring(from, to);
    }

    private static boolean strips(String set, char c) {
        return set == null ? PyText.isSpace(c) : set.indexOf(c) >= 0;
    }

    private static List<Object> split(Frame frame, String s, Object separator, int limit, boolean fromRight) {
        frame.budget.string(s.length());
        List<Object> parts = new ArrayList<>();
        if (separator == None.NONE) {
            splitSpace(s, limit, fromRight, parts);
        } else {
            String sep = text(separator, "sep");
            if (sep.isEmpty()) {
                throw new TemplateFailure("empty separator");
            }
            int at = fromRight ? s.length() : 0;
            while (limit < 0 || parts.size() < limit) {
                int hit = fromRight ? s.lastIndexOf(sep, at - sep.length()) : s.indexOf(sep, at);
                if (hit < 0 || (fromRight && at < sep.length())) {
                    break;
                }
                parts.add(fromRight ? s.substring(hit + sep.length(), at) : s.substring(at, hit));
                at = fromRight ? hit : hit + sep.length();
            }
            parts.add(fromRight ? s.substring(0, at) : s.substring(at));
        }
        frame.budget.step(parts.size());
        return fromRight ? parts.reversed() : parts;
    }

    private static void splitSpace(String s, int limit, boolean fromRight, List<Object> parts) {
        String rest = strip(s, null, true, true);
        while (!rest.isEmpty() && (limit < 0 || parts.size() < limit)) {
            int cut = fromRight ? rest.length() - 1 : 0;
            while (cut >= 0 && cut < rest.length() && !PyText.isSpace(rest.charAt(cut))) {
                cut += fromRight ? -1 : 1;
            }
            parts.add(fromRight ? rest.substring(cut + 1) : rest.substring(0, cut));
            rest = fromRight
                    ? strip(rest.substring(0, cut + 1), null, false, true)
                    : strip(rest.substring(cut), null, true, false);
        }
        if (!rest.isEmpty()) {
            parts.add(fromRight ? head(s, rest) : tail(s, rest));
        }
    }

    /// The unsplit rest of `rsplit` keeps the white space at its start.
    private static String head(String s, String rest) {
        return s.substring(0, s.length() - strip(s, null, true, false).length() + rest.length());
    }

    /// The unsplit rest of `split` keeps the white space at its end.
    private static String tail(String s, String rest) {
        return s.substring(strip(s, null, false, true).length() - rest.length());
    }

    private static List<Object> splitLines(Frame frame, String s, boolean keepEnds) {
        frame.budget.string(s.length());
        List<Object> lines = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if ((c >= 10 && c <= 13) || (c >= 28 && c <= 30) || c == 0x85 || c == 0x2028 || c == 0x2029) {
                int end = i + 1 < s.length() && c == '\r' && s.charAt(i + 1) == '\n' ? i + 2 : i + 1;
                lines.add(s.substring(from, keepEnds ? end : i));
                from = end;
                i = end - 1;
            }
        }
        if (from < s.length()) {
            lines.add(s.substring(from));
        }
        frame.budget.step(lines.size());
        return lines;
    }

    private static boolean affix(String s, Callable.Args args, boolean start) {
        Object affix = args.need(0, start ? "prefix" : "suffix");
        if (affix instanceof PyTuple any) {
            return any.stream().anyMatch(a -> start ? s.startsWith(text(a, "prefix")) : s.endsWith(text(a, "suffix")));
        }
        return start ? s.startsWith(text(affix, "prefix")) : s.endsWith(text(affix, "suffix"));
    }

    /// {@return a string with each word's first letter upper, the others lower}
    static String title(String s) {
        StringBuilder out = new StringBuilder();
        boolean inWord = false;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            boolean letter = Character.isLetter(c);
            out.append(!letter ? c : inWord ? Character.toLowerCase(c) : Character.toTitleCase(c));
            inWord = letter;
        }
        return out.toString();
    }

    /// {@return a string with its first letter upper, the others lower}
    static String capitalize(String s) {
        if (s.isEmpty()) {
            return s;
        }
        int first = s.offsetByCodePoints(0, 1);
        return s.substring(0, first).toUpperCase(Locale.ROOT)
                + s.substring(first).toLowerCase(Locale.ROOT);
    }

    /// {@return a string with a part replaced}
    ///
    /// @param limit at most so often; negative always
    static String replace(Frame frame, String s, String from, String to, int limit) {
        if (limit == 0) {
            return s;
        }
        StringBuilder out = new StringBuilder();
        int done = 0;
        int at = 0;
        while (limit < 0 || done < limit) {
            int hit = s.indexOf(from, from.isEmpty() && done > 0 ? at + 1 : at);
            if (hit < 0 || (from.isEmpty() && done > s.length())) {
                break;
            }
            out.append(s, at, hit).append(to);
            at = hit + from.length();
            if (out.length() > Budget.MAX_LENGTH) {
                break;
            }
            done++;
        }
        out.append(s, Math.min(at, s.length()), s.length());
        frame.budget.string(out.length());
        return out.toString();
    }

    private static Object find(String s, int at) {
        return at < 0 ? -1L : (long) s.codePointCount(0, at);
    }

    private static Object index(String s, String part) {
        int at = s.indexOf(part);
        if (at < 0) {
            throw new TemplateFailure("substring not found");
        }
        return find(s, at);
    }

    private static Object count(String s, String part) {
        if (part.isEmpty()) {
            return PyText.length(s) + 1L;
        }
        long n = 0;
        for (int at = s.indexOf(part); at >= 0; at = s.indexOf(part, at + part.length())) {
            n++;
        }
        return n;
    }

    private static String join(Frame frame, String separator, Object items) {
        StringBuilder out = new StringBuilder();
        boolean first = true;
        for (Object item : PyOps.iterate(frame, items)) {
            out.append(first ? "" : separator).append(text(item, "sequence item"));
            first = false;
            if (out.length() > Budget.MAX_LENGTH) {
                break;
            }
        }
        frame.budget.string(out.length());
        return out.toString();
    }

    private static boolean cased(String s) {
        return s.codePoints().anyMatch(c -> Character.isUpperCase(c) || Character.isLowerCase(c));
    }

    private static String zfill(Frame frame, String s, int width) {
        int missing = width - PyText.length(s);
        frame.budget.string((long) Math.max(0, missing) + s.length());
        boolean signed = s.startsWith("-") || s.startsWith("+");
        return missing <= 0 ? s : (signed ? s.substring(0, 1) : "") + "0".repeat(missing) + s.substring(signed ? 1 : 0);
    }

    private static Object partition(String s, String separator) {
        int at = s.indexOf(separator);
        return at < 0
                ? new PyTuple(List.of(s, "", ""))
                : new PyTuple(List.of(s.substring(0, at), separator, s.substring(at + separator.length())));
    }

    /// `{}`, `{0}` and `{name}` without format specifications; attributes are refused, as they would reach
    /// inside.
    private static Object format(Frame frame, String s, Callable.Args args) {
        StringBuilder out = new StringBuilder();
        int next = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if ((c == '{' || c == '}') && i + 1 < s.length() && s.charAt(i + 1) == c) {
                out.append(c);
                i++;
            } else if (c == '{') {
                int end = s.indexOf('}', i);
                String field = end < 0 ? ":" : s.substring(i + 1, end);
                Object value;
                if (field.isEmpty()) {
                    value = next < args.positional().size() ? args.positional().get(next++) : null;
                } else if (field.matches("[0-9]{1,4}")) {
                    int n = Integer.parseInt(field);
                    value = n < args.positional().size() ? args.positional().get(n) : null;
                } else {
                    value = args.named().get(field);
                }
                if (value == null) {
                    throw new TemplateFailure("the format field '{" + field + "}' is not supported or has no argument");
                }
                out.append(PyText.str(frame, value));
                frame.budget.string(out.length());
                i = end;
            } else {
                out.append(c);
            }
        }
        return out.toString();
    }
}
