package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.List;

/// Cuts texts into parts, and puts parts together, as Python's methods and Jinja's filters do.
public final class Splits {
    private Splits() {}

    /// {@return whether a code point is white space to Python's `str.isspace`}
    public static boolean isSpace(int c) {
        return Character.isSpaceChar(c) || (c >= 9 && c <= 13) || (c >= 28 && c <= 31) || c == 0x85;
    }

    static List<Object> characters(Budget budget, Text text) {
        String s = text.toString();
        budget.step(s.length());
        List<Object> characters = new ArrayList<>(s.length());
        for (int i = 0; i < s.length(); i = s.offsetByCodePoints(i, 1)) {
            characters.add(text.substring(i, s.offsetByCodePoints(i, 1)));
        }
        return characters;
    }

    static Text strip(Text text, Object chars, boolean left, boolean right) {
        String s = text.toString();
        String set = chars == Values.NONE ? null : Text.need(chars, "chars").toString();
        int from = 0;
        int to = s.length();
        while (left && from < to && strips(set, s.codePointAt(from))) {
            from += Character.charCount(s.codePointAt(from));
        }
        while (right && to > from && strips(set, s.codePointBefore(to))) {
            to -= Character.charCount(s.codePointBefore(to));
        }
        return text.substring(from, to);
    }

    private static boolean strips(String set, int c) {
        return set == null ? isSpace(c) : set.indexOf(c) >= 0;
    }

    static List<Object> splitRight(Budget budget, Text text, Object separator, int limit) {
        Object reversed = separator instanceof Text by ? by.reverse() : separator;
        List<Object> parts = split(budget, text.reverse(), reversed, limit);
        parts.replaceAll(part -> ((Text) part).reverse());
        return parts.reversed();
    }

    /// {@return the parts between separators, or between runs of white space if it is `None`; a negative limit is none}
    static List<Object> split(Budget budget, Text text, Object separator, int limit) {
        String s = text.toString();
        budget.string(s.length());
        boolean spaces = separator == Values.NONE;
        String by = spaces ? " " : Text.need(separator, "sep").toString();
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
            parts.add(text.substring(at, cut));
            at = spaces ? end(s, cut, true) : cut + by.length();
        }
        if (!spaces || at < s.length()) {
            parts.add(text.substring(at));
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
    static List<Object> lines(Budget budget, Text text, boolean keepEnds) {
        String s = text.toString();
        budget.string(s.length());
        List<Object> lines = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if ((c >= 10 && c <= 13) || (c >= 28 && c <= 30) || c == 0x85 || c == 0x2028 || c == 0x2029) {
                int end = i + (s.startsWith("\r\n", i) ? 2 : 1);
                lines.add(text.substring(from, keepEnds ? end : i));
                from = end;
                i = end - 1;
            }
        }
        if (from < s.length()) {
            lines.add(text.substring(from));
        }
        budget.step(lines.size());
        return lines;
    }

    /// {@return a text with a part replaced at most so often; a negative limit is none}
    static Text replace(Budget budget, Text text, Text old, Text by, int limit) {
        String s = text.toString();
        String from = old.toString();
        TextBuilder out = new TextBuilder();
        int at = 0;
        for (int done = 0; limit < 0 || done < limit; done++) {
            int hit = s.indexOf(from, at);
            if (from.isEmpty() && done > 0) {
                hit = at < s.length() ? s.offsetByCodePoints(at, 1) : -1;
            }
            if (hit < 0) {
                break;
            }
            out.append(text, at, hit).append(by);
            at = hit + from.length();
        }
        if (at == 0) {
            return out.length() == 0 ? text : made(budget, out.append(text));
        }
        return made(budget, out.append(text, at, s.length()));
    }

    static Text made(Budget budget, TextBuilder out) {
        budget.string(out.length());
        return out.toText();
    }

    /// {@return items as text with a separator between them; if strict, each must be a text
    ///     already}
    static Text join(Budget budget, Text separator, List<?> items, boolean strict) {
        TextBuilder out = new TextBuilder();
        boolean first = true;
        for (Object item : items) {
            out.append(first ? Text.EMPTY : separator);
            out.append(strict ? Text.need(item, "sequence item") : Text.str(budget, item));
            first = false;
        }
        return made(budget, out);
    }
}
