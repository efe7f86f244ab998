package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// Values as text, and what Python's string methods and Jinja's filters do with text; positions count code points.
public final class Text {
    private Text() {}

    /// {@return whether a code point is white space to Python's `str.isspace`}
    public static boolean isSpace(int c) {
        return Character.isSpaceChar(c) || (c >= 9 && c <= 13) || (c >= 28 && c <= 31) || c == 0x85;
    }

    /// {@return what printing a value writes}
    public static String str(Budget budget, Object value) {
        if (value instanceof String s) {
            return s;
        }
        return value instanceof Undefined ? "" : Printer.repr(budget, value);
    }

    static String need(Object value, String name) {
        Values.used(value);
        if (value instanceof String s) {
            return s;
        }
        throw new TemplateFailure("'" + name + "' must be str, not " + Values.type(value));
    }

    static int length(String s) {
        return s.codePointCount(0, s.length());
    }

    static String slice(String s, int from, int to) {
        int start = s.offsetByCodePoints(0, from);
        return s.substring(start, s.offsetByCodePoints(start, to - from));
    }

    static List<Object> characters(Budget budget, String s) {
        budget.step(s.length());
        List<Object> characters = new ArrayList<>(s.length());
        s.codePoints().forEach(c -> characters.add(Character.toString(c)));
        return characters;
    }

    static int compare(String a, String b) {
        return Arrays.compare(a.codePoints().toArray(), b.codePoints().toArray());
    }

    static String strip(String s, Object chars, boolean left, boolean right) {
        String set = chars == Values.NONE ? null : need(chars, "chars");
        int from = 0;
        int to = s.length();
        while (left && from < to && strips(set, s.codePointAt(from))) {
            from += Character.charCount(s.codePointAt(from));
        }
        while (right && to > from && strips(set, s.codePointBefore(to))) {
            to -= Character.charCount(s.codePointBefore(to));
        }
        return s.substring(from, to);
    }

    private static boolean strips(String set, int c) {
        return set == null ? isSpace(c) : set.indexOf(c) >= 0;
    }

    static String reverse(String s) {
        return new StringBuilder(s).reverse().toString();
    }

    static List<Object> splitRight(Budget budget, String s, Object separator, int limit) {
        Object reversed = separator instanceof String text ? reverse(text) : separator;
        List<Object> parts = split(budget, reverse(s), reversed, limit);
        parts.replaceAll(part -> reverse((String) part));
        return parts.reversed();
    }

    /// {@return the parts between separators, or between runs of white space if it is `None`; a negative limit is none}
    static List<Object> split(Budget budget, String s, Object separator, int limit) {
        budget.string(s.length());
        boolean spaces = separator == Values.NONE;
        String by = spaces ? " " : need(separator, "sep");
        if (by.isEmpty()) {
            throw new TemplateFailure("empty separator");
        }
        List<Object> parts = new ArrayList<>();
        int at = spaces ? end(s, 0, true) : 0;
        while (limit < 0 || parts.size() < limit) {
            int cut = spaces ? end(s, at, false) : s.indexOf(by, at);
            if (cut < 0 || (spaces && cut == s.length())) {
                break;
            }
            parts.add(s.substring(at, cut));
            at = spaces ? end(s, cut, true) : cut + by.length();
        }
        if (!spaces || at < s.length()) {
            parts.add(s.substring(at));
        }
        budget.step(parts.size());
        return parts;
    }

    private static int end(String s, int from, boolean space) {
        int i = from;
        while (i < s.length() && isSpace(s.charAt(i)) == space) {
            i++;
        }
        return i;
    }

    /// {@return the lines, cut at every line boundary that Python knows}
    static List<Object> lines(Budget budget, String s, boolean keepEnds) {
        budget.string(s.length());
        List<Object> lines = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if ((c >= 10 && c <= 13) || (c >= 28 && c <= 30) || c == 0x85 || c == 0x2028 || c == 0x2029) {
                int end = i + (s.startsWith("\r\n", i) ? 2 : 1);
                lines.add(s.substring(from, keepEnds ? end : i));
                from = end;
                i = end - 1;
            }
        }
        if (from < s.length()) {
            lines.add(s.substring(from));
        }
        budget.step(lines.size());
        return lines;
    }

    /// {@return a string with a part replaced at most so often; a negative limit is none}
    static String replace(Budget budget, String s, String from, String to, int limit) {
        StringBuilder out = new StringBuilder();
        int at = 0;
        for (int done = 0; limit < 0 || done < limit; done++) {
            int hit = s.indexOf(from, at);
            if (from.isEmpty() && done > 0) {
                hit = at < s.length() ? s.offsetByCodePoints(at, 1) : -1;
            }
            if (hit < 0) {
                break;
            }
            Budget.check(out.append(s, at, hit).append(to));
            at = hit + from.length();
        }
        return budget.made(out.append(s, at, s.length()).toString());
    }

    static boolean isCase(String s, boolean upper) {
        String same = upper ? s.toUpperCase(Locale.ROOT) : s.toLowerCase(Locale.ROOT);
        return s.equals(same) && !s.equals(upper ? s.toLowerCase(Locale.ROOT) : s.toUpperCase(Locale.ROOT));
    }

    /// {@return a string with the first letter of each word upper, the others lower; words begin after blanks, `-` and
    /// brackets for the filter, after all that has no case for the method}
    static String title(String s, boolean filter) {
        StringBuilder out = new StringBuilder();
        boolean inWord = false;
        for (int i = 0; i < s.length(); i += Character.charCount(s.codePointAt(i))) {
            int c = s.codePointAt(i);
            out.appendCodePoint(inWord ? Character.toLowerCase(c) : Character.toTitleCase(c));
            inWord = filter
                    ? !isSpace(c) && "-({[<".indexOf(c) < 0
                    : Character.isUpperCase(c) || Character.isLowerCase(c) || Character.isTitleCase(c);
        }
        return out.toString();
    }

    static String capitalize(String s) {
        int first = s.offsetByCodePoints(0, Math.min(1, s.length()));
        return title(s.substring(0, first), true).concat(s.substring(first).toLowerCase(Locale.ROOT));
    }

    /// {@return items as text with a separator between them; if strict, each must be a string already}
    static String join(Budget budget, String separator, List<?> items, boolean strict) {
        StringBuilder out = new StringBuilder();
        boolean first = true;
        for (Object item : items) {
            out.append(first ? "" : separator);
            Budget.check(out.append(strict ? need(item, "sequence item") : str(budget, item)));
            first = false;
        }
        return budget.made(out.toString());
    }
}
