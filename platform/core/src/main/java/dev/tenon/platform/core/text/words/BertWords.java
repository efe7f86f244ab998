package dev.tenon.platform.core.text.words;

import java.text.Normalizer;

/// Cuts a text into the words of BERT: at white space, and around each punctuation mark and each Chinese
/// character. Controls are dropped. Immutable and safe for any thread.
public final class BertWords {
    /// Stands in front of each word.
    public static final char START = '\u2581';

    private final boolean lower;
    private final boolean strip;

    /// Creates the rules of a vocabulary.
    ///
    /// @param lower whether text is lower-cased
    /// @param strip whether letters lose their accents
    public BertWords(boolean lower, boolean strip) {
        this.lower = lower;
        this.strip = strip;
    }

    /// Cuts a text.
    ///
    /// @param text text without lone surrogates
    /// @return its words, each after a [#START]
    public String of(String text) {
        String input = strip ? Normalizer.normalize(text, Normalizer.Form.NFD) : text;
        StringBuilder words = new StringBuilder(input.length() + input.length() / 4 + 1);
        boolean inWord = false;
        for (int i = 0; i < input.length(); ) {
            int codePoint = input.codePointAt(i);
            i += Character.charCount(codePoint);
            if (CharKinds.isWhiteSpace(codePoint)) {
                inWord = false;
            } else if (isAlone(codePoint)) {
                words.append(START).appendCodePoint(codePoint);
                inWord = false;
            } else if (!isDropped(codePoint)) {
                if (!inWord) {
                    words.append(START);
                }
                words.appendCodePoint(covered(codePoint));
                inWord = true;
            }
        }
        return words.toString();
    }

    /// What a text has of [#START] is no start of a word; no token covers the noncharacter.
    private int covered(int codePoint) {
        return codePoint == START ? 0xffff : lower ? Character.toLowerCase(codePoint) : codePoint;
    }

    private boolean isDropped(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.SURROGATE -> true;
            case Character.NON_SPACING_MARK -> strip;
            default -> codePoint == 0xfffd;
        };
    }

    private static boolean isAlone(int codePoint) {
        return isPunctuation(codePoint) || isChinese(codePoint);
    }

    /// ASCII counts as punctuation what is neither letter, digit, blank nor control.
    private static boolean isPunctuation(int codePoint) {
        if (codePoint < 128) {
            return codePoint > ' ' && codePoint < 127 && !Character.isLetterOrDigit(codePoint);
        }
        return switch (Character.getType(codePoint)) {
            case Character.CONNECTOR_PUNCTUATION,
                    Character.DASH_PUNCTUATION,
                    Character.START_PUNCTUATION,
                    Character.END_PUNCTUATION,
                    Character.INITIAL_QUOTE_PUNCTUATION,
                    Character.FINAL_QUOTE_PUNCTUATION,
                    Character.OTHER_PUNCTUATION -> true;
            default -> false;
        };
    }

    /// Ideographs, which are written without blanks; not Hangul and Kana.
    private static boolean isChinese(int c) {
        return c >= 0x4e00 && c <= 0x9fff
                || c >= 0x3400 && c <= 0x4dbf
                || c >= 0xf900 && c <= 0xfaff
                || c >= 0x20000 && c <= 0x2a6df
                || c >= 0x2a700 && c <= 0x2ceaf
                || c >= 0x2f800 && c <= 0x2fa1f;
    }
}
