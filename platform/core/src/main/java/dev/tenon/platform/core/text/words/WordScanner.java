package dev.tenon.platform.core.text.words;

import static dev.tenon.platform.core.text.words.CharKinds.LETTER;
import static dev.tenon.platform.core.text.words.CharKinds.NEWLINE;
import static dev.tenon.platform.core.text.words.CharKinds.NUMBER;
import static dev.tenon.platform.core.text.words.CharKinds.OTHER;

/// Base of the pre-tokenizers that are written by hand: in linear time, without recursion.
abstract class WordScanner implements PreTokenizer {
    /// Finds the end of the word that begins at a place.
    ///
    /// @param text text without lone surrogates
    /// @param at first char of the word
    /// @param to where the text ends; greater than `at`
    /// @return char after the last; greater than `at`
    abstract int wordEnd(String text, int at, int to);

    @Override
    public final void split(String text, int from, int to, Words words) {
        for (int at = from; at < to; ) {
            int end = wordEnd(text, at, to);
            words.word(at, end);
            at = end;
        }
    }

    /// {@return where a run of one kind ends}
    static int run(String text, int at, int to, int kind) {
        return run(text, at, to, kind, false);
    }

    /// {@return where a run of one kind ends}
    ///
    /// @param marks whether marks count as letters
    static int run(String text, int at, int to, int kind, boolean marks) {
        int i = at;
        while (i < to) {
            char c = text.charAt(i);
            if (c < 128) {
                if (CharKinds.of(c) != kind) {
                    return i;
                }
                i++;
            } else {
                int codePoint = text.codePointAt(i);
                if (CharKinds.of(codePoint, marks) != kind) {
                    return i;
                }
                i += Character.charCount(codePoint);
            }
        }
        return i;
    }

    /// {@return where a run of at most `most` numbers ends}
    static int numbers(String text, int at, int to, int most) {
        int i = at;
        for (int n = 0; n < most && i < to && CharKinds.of(text.codePointAt(i)) == NUMBER; n++) {
            i += Character.charCount(text.codePointAt(i));
        }
        return i;
    }

    /// {@return where white space that begins here ends as a word: `\s+(?!\S)|\s+`}
    static int space(String text, int at, int to) {
        int end = at;
        while (end < to && CharKinds.isWhiteSpace(text.charAt(end))) {
            end++;
        }
        return end == to || end - at == 1 ? end : end - 1;
    }

    /// {@return where white space that begins here ends as a word: `\s*[\r\n]+|\s+(?!\S)|\s+`}
    static int spaceOrLines(String text, int at, int to) {
        int end = at;
        int behindLine = at;
        for (; end < to && CharKinds.isWhiteSpace(text.charAt(end)); end++) {
            if (CharKinds.of(text.charAt(end)) == NEWLINE) {
                behindLine = end + 1;
            }
        }
        return behindLine > at ? behindLine : end == to || end - at == 1 ? end : end - 1;
    }

    /// Finds ` ?[^\s\p{L}\p{N}]+` followed by any number of chars of a tail.
    ///
    /// @param text text without lone surrogates
    /// @param at first char
    /// @param to where the text ends
    /// @param tail line ends, or nothing
    /// @param marks whether marks count as letters
    /// @return where it ends, or -1 if there is none here
    static int symbols(String text, int at, int to, String tail, boolean marks) {
        int start = text.charAt(at) == ' ' ? at + 1 : at;
        int end = run(text, start, to, OTHER, marks);
        if (end == start) {
            return -1;
        }
        while (end < to && tail.indexOf(text.charAt(end)) >= 0) {
            end++;
        }
        return end;
    }

    /// The rules of GPT-2: `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+|
    /// ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
    static final class Gpt2 extends WordScanner {
        @Override
        int wordEnd(String text, int at, int to) {
            char c = text.charAt(at);
            if (c == '\'') {
                int length = CharKinds.contraction(text, at, to, false);
                if (length > 0) {
                    return at + length;
                }
            }
            int start = c == ' ' && at + 1 < to ? at + 1 : at;
            int kind = CharKinds.of(text.codePointAt(start));
            return kind <= NUMBER ? run(text, start, to, kind) : space(text, at, to);
        }
    }

    /// The rules of Llama 3, Qwen 2, Qwen 3.5 and Seed, which differ in how many digits make a word, in what
    /// a letter is, and in what follows symbols: `(?i:'s|'t|'re|'ve|'m|'ll|'d)|
    /// [^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[tail]*|\s*[\r\n]+|\s+(?!\S)|\s+`, with
    /// `[\p{L}\p{M}]` for `\p{L}` of words and symbols where marks count as letters.
    static final class Cl100k extends WordScanner {
        private final int digits;
        private final boolean marks;
        private final String tail;

        Cl100k(int digits, boolean marks) {
            this(digits, marks, "\r\n");
        }

        Cl100k(int digits, boolean marks, String tail) {
            this.digits = digits;
            this.marks = marks;
            this.tail = tail;
        }

        @Override
        int wordEnd(String text, int at, int to) {
            int codePoint = text.codePointAt(at);
            if (codePoint == '\'') {
                int length = CharKinds.contraction(text, at, to, true);
                if (length > 0) {
                    return at + length;
                }
            }
            int kind = CharKinds.of(codePoint, marks);
            int next = at + Character.charCount(codePoint);
            if (kind == LETTER) {
                return run(text, next, to, LETTER, marks);
            }
            if (kind == NUMBER) {
                return numbers(text, at, to, digits);
            }
            if (kind != NEWLINE && next < to && CharKinds.of(text.codePointAt(next), marks) == LETTER) {
                return run(text, next, to, LETTER, marks);
            }
            int end = kind == OTHER || codePoint == ' ' ? symbols(text, at, to, tail, marks) : -1;
            return end > 0 ? end : spaceOrLines(text, at, to);
        }
    }

    /// The rules of Tekken, GPT-4o and Kimi K2, which cut a word in front of a capital:
    /// `[^\r\n\p{L}\p{N}]?U*L+|[^\r\n\p{L}\p{N}]?U+L*|\p{N}{1,digits}|
    /// ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+` with `U` and `L` as in [CharKinds#UPPER]
    /// and [CharKinds#LOWER]; GPT-4o and Kimi add a contraction to the word. For Kimi, runs of the Han script
    /// are words of their own, `\p{Han}+`, and `/` is no line end.
    static final class O200k extends WordScanner {
        private final int digits;
        private final boolean contractions;
        private final boolean han;

        O200k(int digits, boolean contractions, boolean han) {
            this.digits = digits;
            this.contractions = contractions;
            this.han = han;
        }

        @Override
        int wordEnd(String text, int at, int to) {
            int codePoint = text.codePointAt(at);
            if (han && CharKinds.isHan(codePoint)) {
                return runOfHan(text, at, to);
            }
            int kind = CharKinds.of(codePoint);
            if (kind == NUMBER) {
                return numbers(text, at, to, digits);
            }
            int next = at + Character.charCount(codePoint);
            int end = -1;
            if (kind == LETTER) {
                end = capitalThenLower(text, at, to);
                end = end > 0 ? end : capitals(text, at, to);
            } else if (kind != NEWLINE) {
                boolean mark = caseOf(codePoint) != 0;
                end = capitalThenLower(text, next, to);
                end = end > 0 || !mark ? end : capitalThenLower(text, at, to);
                end = end > 0 ? end : capitals(text, next, to);
            }
            if (end > 0) {
                boolean apostrophe = contractions && end < to && text.charAt(end) == '\'';
                return apostrophe ? end + CharKinds.contraction(text, end, to, true) : end;
            }
            end = kind == OTHER || codePoint == ' ' ? symbols(text, at, to, han ? "\r\n" : "\r\n/", false) : -1;
            return end > 0 ? end : spaceOrLines(text, at, to);
        }

        private int caseOf(int codePoint) {
            return han && CharKinds.isHan(codePoint) ? 0 : CharKinds.caseOf(codePoint);
        }

        private static int runOfHan(String text, int at, int to) {
            int i = at;
            while (i < to && CharKinds.isHan(text.codePointAt(i))) {
                i += Character.charCount(text.codePointAt(i));
            }
            return i;
        }

        /// {@return the end of `U*L+`, or -1}
        private int capitalThenLower(String text, int at, int to) {
            int i = at;
            int behindLower = -1;
            while (i < to) {
                int codePoint = text.codePointAt(i);
                int kind = caseOf(codePoint);
                if ((kind & CharKinds.UPPER) == 0) {
                    break;
                }
                i += Character.charCount(codePoint);
                behindLower = (kind & CharKinds.LOWER) != 0 ? i : behindLower;
            }
            int end = runOf(text, i, to, CharKinds.LOWER);
            return end > i ? end : behindLower;
        }

        /// {@return the end of `U+` where no lower case follows, or -1}
        private int capitals(String text, int at, int to) {
            int end = runOf(text, at, to, CharKinds.UPPER);
            return end > at ? end : -1;
        }

        private int runOf(String text, int at, int to, int bit) {
            int i = at;
            while (i < to) {
                int codePoint = text.codePointAt(i);
                if ((caseOf(codePoint) & bit) == 0) {
                    break;
                }
                i += Character.charCount(codePoint);
            }
            return i;
        }
    }

    /// Makes words of up to so many numbers, and of what lies between them: `\p{N}{1,most}`.
    static final class Numbers extends WordScanner {
        private final int most;

        Numbers(int most) {
            this.most = most;
        }

        @Override
        int wordEnd(String text, int at, int to) {
            int i = numbers(text, at, to, most);
            if (i > at) {
                return i;
            }
            while (i < to && CharKinds.of(text.codePointAt(i)) != NUMBER) {
                i += Character.charCount(text.codePointAt(i));
            }
            return i;
        }
    }

    /// Cuts words of white space that do not end a line, as [Cl100k] makes them, into lengths of powers of two, of at
    /// most 512, the longest first.
    static final class SpacesByPowers extends WordScanner {
        @Override
        int wordEnd(String text, int at, int to) {
            boolean spaces = to - at > 1
                    && CharKinds.isWhiteSpace(text.charAt(at))
                    && CharKinds.isWhiteSpace(text.charAt(at + 1))
                    && CharKinds.of(text.charAt(to - 1)) != NEWLINE;
            return spaces ? at + Math.min(512, Integer.highestOneBit(to - at)) : to;
        }
    }
}
