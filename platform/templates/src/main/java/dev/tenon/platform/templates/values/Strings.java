package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What Python's string methods and Jinja's filters of the same names do alike.
final class Strings {
    private Strings() {}

    /// {@return a string without white space, or without the given characters, at its ends}
    static String strip(String s, Object chars, boolean left, boolean right) {
        String set = chars == null || chars == None.NONE ? null : Text.need(chars, "chars");
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
        return set == null ? Text.isSpace(c) : set.indexOf(c) >= 0;
    }

    /// {@return the parts between separators, cut from the left or from the right}
    static List<Object> split(Budget budget, String s, Object separator, int limit, boolean fromRight) {
        budget.string(s.length());
        List<Object> parts = new ArrayList<>();
        if (separator == None.NONE) {
            splitSpace(s, limit, fromRight, parts);
        } else {
            String sep = Text.need(separator, "sep");
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
        budget.step(parts.size());
        return fromRight ? parts.reversed() : parts;
    }

    private static void splitSpace(String s, int limit, boolean fromRight, List<Object> parts) {
        int from = 0;
        int to = s.length();
        while (true) {
            while (from < to && Text.isSpace(fromRight ? s.charAt(to - 1) : s.charAt(from))) {
                to -= fromRight ? 1 : 0;
                from += fromRight ? 0 : 1;
            }
            if (from == to) {
                return;
            }
            if (limit >= 0 && parts.size() == limit) {
                parts.add(s.substring(from, to));
                return;
            }
            int cut = fromRight ? to : from;
            while (fromRight ? cut > from && !Text.isSpace(s.charAt(cut - 1)) : cut < to && !Text.isSpace(s.charAt(cut))) {
                cut += fromRight ? -1 : 1;
            }
            parts.add(fromRight ? s.substring(cut, to) : s.substring(from, cut));
            from = fromRight ? from : cut;
            to = fromRight ? cut : to;
        }
    }

    /// {@return the lines, cut at every line boundary that Python knows}
    static List<Object> lines(Budget budget, String s, boolean keepEnds) {
        budget.string(s.length());
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
        budget.step(lines.size());
        return lines;
    }

    /// {@return a string with a part replaced}
    static String replace(Budget budget, String s, String from, String to, int limit) {
        StringBuilder out = new StringBuilder();
        int done = 0;
        int at = 0;
        while (limit < 0 || done < limit) {
            int hit = s.indexOf(from, at);
            if (from.isEmpty() && done > 0) {
                hit = at < s.length() ? s.offsetByCodePoints(at, 1) : -1;
            }
            if (hit < 0) {
                break;
            }
            out.append(s, at, hit).append(to);
            Budget.check(out);
            at = hit + from.length();
            done++;
        }
        return done == 0 ? s : budget.made(out.append(s, at, s.length()).toString());
    }

    /// {@return whether a character has case}
    static boolean isCased(int c) {
        return Character.isUpperCase(c) || Character.isLowerCase(c) || Character.isTitleCase(c);
    }

    /// {@return whether a string has letters with case, all of them upper or all of them lower}
    static boolean isCase(String s, boolean upper) {
        boolean cased = false;
        for (int i = 0; i < s.length(); i += Character.charCount(s.codePointAt(i))) {
            int c = s.codePointAt(i);
            if (isCased(c)) {
                if (upper != Character.isUpperCase(c)) {
                    return false;
                }
                cased = true;
            }
        }
        return cased;
    }

    /// {@return a string with the first of each run of letters upper, the others lower}
    static String title(String s) {
        StringBuilder out = new StringBuilder();
        boolean inWord = false;
        for (int i = 0; i < s.length(); i += Character.charCount(s.codePointAt(i))) {
            int c = s.codePointAt(i);
            out.appendCodePoint(inWord ? Character.toLowerCase(c) : Character.toTitleCase(c));
            inWord = isCased(c);
        }
        return out.toString();
    }

    /// {@return a string with its first letter upper, the others lower}
    static String capitalize(String s) {
        if (s.isEmpty()) {
            return s;
        }
        int first = s.offsetByCodePoints(0, 1);
        return s.substring(0, first).toUpperCase(Locale.ROOT) + s.substring(first).toLowerCase(Locale.ROOT);
    }

    /// {@return items as text with a separator between them}
    static String join(Budget budget, String separator, List<?> items, boolean strict) {
        StringBuilder out = new StringBuilder();
        boolean first = true;
        for (Object item : items) {
            out.append(first ? "" : separator);
            out.append(strict ? Text.need(item, "sequence item") : Text.str(budget, item));
            first = false;
            Budget.check(out);
        }
        return budget.made(out.toString());
    }
}
