package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Values as text, and positions in text, which count code points.
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
}
