package dev.tenon.platform.grammar.expr;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/// Characters that grammars seldom tell apart, so that what may follow is often the same for all of
/// them.
public enum Slice {
    /// What JSON's strings have as it is: all but `"`, `\` and control characters; also without the
    /// ends of lines U+2028 and U+2029, which a regular expression's `.` leaves out.
    PLAIN(
            new int[] {0x20, 0x21},
            new int[] {0x23, 0x5B},
            new int[] {0x5D, 0x7F},
            new int[] {0xC2, 0xDF, 0x80, 0xBF},
            new int[] {0xE0, 0xE0, 0xA0, 0xBF, 0x80, 0xBF},
            new int[] {0xE1, 0xE1, 0x80, 0xBF, 0x80, 0xBF},
            new int[] {0xE2, 0xE2, 0x80, 0x80, 0x80, 0xA7},
            new int[] {0xE2, 0xE2, 0x80, 0x80, 0xAA, 0xBF},
            new int[] {0xE2, 0xE2, 0x81, 0xBF, 0x80, 0xBF},
            new int[] {0xE3, 0xEC, 0x80, 0xBF, 0x80, 0xBF},
            new int[] {0xED, 0xED, 0x80, 0x9F, 0x80, 0xBF},
            new int[] {0xEE, 0xEF, 0x80, 0xBF, 0x80, 0xBF},
            new int[] {0xF0, 0xF0, 0x90, 0xBF, 0x80, 0xBF, 0x80, 0xBF},
            new int[] {0xF1, 0xF3, 0x80, 0xBF, 0x80, 0xBF, 0x80, 0xBF},
            new int[] {0xF4, 0xF4, 0x80, 0x8F, 0x80, 0xBF, 0x80, 0xBF}),
    /// Letters of ASCII.
    LETTERS(new int[] {'A', 'Z'}, new int[] {'a', 'z'}),
    /// Small letters of ASCII.
    SMALL(new int[] {'a', 'z'});

    /// Of each group of characters, the first and the last value of each byte.
    private final int[][] groups;

    Slice(int[]... groups) {
        this.groups = groups;
    }

    /// {@return how many bytes the character of the slice has that begins somewhere in a text; 0 if
    ///     none does}
    ///
    /// @param text bytes
    /// @param at where
    public int lengthAt(byte[] text, int at) {
        for (int[] group : groups) {
            int length = group.length / 2;
            int i = 0;
            while (i < length && at + i < text.length && isIn(text[at + i] & 255, group, i)) {
                i++;
            }
            if (i == length) {
                return length;
            }
        }
        return 0;
    }

    private static boolean isIn(int value, int[] group, int i) {
        return value >= group[2 * i] && value <= group[2 * i + 1];
    }

    /// {@return of each group of characters, and each of their bytes, the classes that it has}
    ///
    /// @param classOf the class of a byte, 0 to 255
    public int[][][] classes(IntUnaryOperator classOf) {
        return Arrays.stream(groups)
                .map(group -> IntStream.range(0, group.length / 2)
                        .mapToObj(i -> IntStream.rangeClosed(group[2 * i], group[2 * i + 1])
                                .map(classOf)
                                .distinct()
                                .toArray())
                        .toArray(int[][]::new))
                .toArray(int[][][]::new);
    }
}
