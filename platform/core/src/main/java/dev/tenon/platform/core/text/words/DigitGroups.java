package dev.tenon.platform.core.text.words;

import static dev.tenon.platform.core.text.words.CharKinds.NUMBER;

/// Cuts runs of digits into groups of three, counted from the right: `1|234|567`. In linear time.
final class DigitGroups implements PreTokenizer {
    /// What counts as a digit, and which runs are cut.
    enum Rule {
        /// Of all numbers, `\p{N}`; each run stands apart from what is around it.
        NUMBERS,
        /// Of decimal digits: `\d{1,3}(?=(?:\d{3})*\b)`. A run that letters follow is not cut.
        WORDS,
        /// Of decimal digits: a cut before whole groups only, `(?=(\d{3})+(?!\d))`.
        WHOLE_GROUPS
    }

    private final Rule rule;

    DigitGroups(Rule rule) {
        this.rule = rule;
    }

    @Override
    public void split(String text, int from, int to, Words words) {
        int start = from; // of the word that goes on
        for (int at = from; at < to; ) {
            if (!isDigit(text.codePointAt(at))) {
                at += Character.charCount(text.codePointAt(at));
                continue;
            }
            int end = at;
            int count = 0;
            while (end < to && isDigit(text.codePointAt(end))) {
                end += Character.charCount(text.codePointAt(end));
                count++;
            }
            if (rule != Rule.WORDS || end == to || !isOfWord(text.codePointAt(end))) {
                start = cut(text, start, at, count, words);
                if (rule != Rule.WHOLE_GROUPS) {
                    words.word(start, end);
                    start = end;
                }
            }
            at = end;
        }
        if (start < to) {
            words.word(start, to);
        }
    }

    /// Cuts before groups of a run.
    ///
    /// @return where the last group begins
    private int cut(String text, int start, int run, int count, Words words) {
        int word = start;
        int at = run;
        for (int left = count; left > 0; left--) {
            boolean group = left % 3 == 0 || left == count && rule != Rule.WHOLE_GROUPS;
            if (group && at > word) {
                words.word(word, at);
                word = at;
            }
            at += Character.charCount(text.codePointAt(at));
        }
        return word;
    }

    private boolean isDigit(int codePoint) {
        return rule == Rule.NUMBERS ? CharKinds.of(codePoint) == NUMBER : Character.isDigit(codePoint);
    }

    private static boolean isOfWord(int codePoint) {
        int type = Character.getType(codePoint);
        return Character.isAlphabetic(codePoint)
                || type == Character.CONNECTOR_PUNCTUATION
                || type == Character.NON_SPACING_MARK
                || type == Character.ENCLOSING_MARK
                || type == Character.COMBINING_SPACING_MARK;
    }
}
