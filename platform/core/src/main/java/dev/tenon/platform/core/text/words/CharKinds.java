package dev.tenon.platform.core.text.words;

/// The kinds of characters that pre-tokenizers tell apart.
///
/// `\p{L}` and `\p{N}` are Unicode general categories, `\s` is the Unicode property White_Space
/// (not Java's narrower `\s`).
final class CharKinds {
    /// Everything else: punctuation, symbols, marks, controls.
    static final int OTHER = 0;
    /// `\p{L}`.
    static final int LETTER = 1;
    /// `\p{N}`.
    static final int NUMBER = 2;
    /// `\s` but CR and LF.
    static final int SPACE = 3;
    /// CR and LF.
    static final int NEWLINE = 4;

    /// Bit of letters that can begin a capitalised word: `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`.
    static final int UPPER = 1;
    /// Bit of letters that can go on in lower case: `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`.
    static final int LOWER = 2;

    private static final byte[] ASCII = new byte[128];

    static {
        for (int c = 0; c < 128; c++) {
            ASCII[c] = (byte) compute(c);
        }
    }

    private CharKinds() {}

    /// {@return the kind of a code point}
    static int of(int codePoint) {
        return codePoint < 128 ? ASCII[codePoint] : compute(codePoint);
    }

    /// {@return the kind of a code point}
    ///
    /// @param marks whether marks count as letters
    static int of(int codePoint, boolean marks) {
        int kind = of(codePoint);
        return marks && kind == OTHER && codePoint >= 128 && caseOf(codePoint) != 0 ? LETTER : kind;
    }

    /// {@return whether a code point is of the Han script}
    static boolean isHan(int codePoint) {
        return codePoint >= 0x2e80 && Character.UnicodeScript.of(codePoint) == Character.UnicodeScript.HAN;
    }

    /// {@return whether a code point has the Unicode property White_Space; all that have are single chars}
    static boolean isWhiteSpace(int c) {
        return c == ' '
                || c >= 9 && c <= 13
                || c == 0x85
                || c == 0xa0
                || c == 0x1680
                || c >= 0x2000 && c <= 0x200a
                || c == 0x2028
                || c == 0x2029
                || c == 0x202f
                || c == 0x205f
                || c == 0x3000;
    }

    /// {@return [#UPPER], [#LOWER], both, or 0 for what is neither letter nor mark}
    static int caseOf(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.UPPERCASE_LETTER, Character.TITLECASE_LETTER -> UPPER;
            case Character.LOWERCASE_LETTER -> LOWER;
            case Character.MODIFIER_LETTER,
                    Character.OTHER_LETTER,
                    Character.NON_SPACING_MARK,
                    Character.ENCLOSING_MARK,
                    Character.COMBINING_SPACING_MARK -> UPPER | LOWER;
            default -> 0;
        };
    }

    /// Measures an English contraction: `'s 't 'm 'd 're 've 'll`.
    ///
    /// @param text any text
    /// @param at index of the apostrophe
    /// @param to where the text ends
    /// @param anyCase whether capitals count too
    /// @return its length in chars, or 0 if there is none
    static int contraction(String text, int at, int to, boolean anyCase) {
        if (at + 1 >= to) {
            return 0;
        }
        int a = letter(text.charAt(at + 1), anyCase);
        if (a == 's' || a == 't' || a == 'm' || a == 'd') {
            return 2;
        }
        int b = at + 2 < to ? letter(text.charAt(at + 2), anyCase) : 0;
        return (a == 'r' || a == 'v') && b == 'e' || a == 'l' && b == 'l' ? 3 : 0;
    }

    private static int letter(char c, boolean anyCase) {
        return anyCase && c >= 'A' && c <= 'Z' ? c + 32 : c;
    }

    private static int compute(int codePoint) {
        if (codePoint == '\r' || codePoint == '\n') {
            return NEWLINE;
        }
        if (isWhiteSpace(codePoint)) {
            return SPACE;
        }
        return switch (Character.getType(codePoint)) {
            case Character.UPPERCASE_LETTER,
                    Character.LOWERCASE_LETTER,
                    Character.TITLECASE_LETTER,
                    Character.MODIFIER_LETTER,
                    Character.OTHER_LETTER -> LETTER;
            case Character.DECIMAL_DIGIT_NUMBER, Character.LETTER_NUMBER, Character.OTHER_NUMBER -> NUMBER;
            default -> OTHER;
        };
    }
}
