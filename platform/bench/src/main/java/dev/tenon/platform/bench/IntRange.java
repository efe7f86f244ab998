package dev.tenon.platform.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads lists of numbers as llama-bench takes them: `512`, `128,256`, `1-8`, `16-64+16`, `1-8*2`.
final class IntRange {
    private static final Pattern RANGE = Pattern.compile("(\\d{1,9})(?:-(\\d{1,9})(?:([+*])(\\d{1,9}))?)?");
    private static final int MAX_VALUES = 10_000;

    private IntRange() {}

    /// Reads a list.
    ///
    /// @param texts numbers, ranges and comma lists of both
    /// @return the numbers, in order
    /// @throws IllegalArgumentException if it is no such list, or has more than 10000 numbers
    static List<Integer> parse(List<String> texts) {
        List<Integer> values = new ArrayList<>();
        for (String text : texts) {
            for (String item : text.split(",", -1)) {
                addRange(item.strip(), values);
            }
        }
        return values;
    }

    private static void addRange(String text, List<Integer> values) {
        Matcher range = RANGE.matcher(text);
        if (!range.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a number or a range such as 1-8, 16-64+16 or 1-8*2");
        }
        long first = Long.parseLong(range.group(1));
        long last = range.group(2) == null ? first : Long.parseLong(range.group(2));
        boolean multiply = "*".equals(range.group(3));
        long step = range.group(4) == null ? 1 : Long.parseLong(range.group(4));
        if (last < first || step < (multiply ? 2 : 1) || multiply && first == 0 && last > 0) {
            throw new IllegalArgumentException("'" + text + "' does not go from a smaller to a larger number");
        }
        for (long value = first; value <= last; value = multiply ? value * step : value + step) {
            if (values.size() == MAX_VALUES) {
                throw new IllegalArgumentException("'" + text + "' makes more than " + MAX_VALUES + " numbers");
            }
            values.add((int) value);
        }
    }
}
