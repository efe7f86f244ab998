package dev.tenon.platform.grammar.regex;

import dev.tenon.platform.grammar.expr.CodePoints;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/// The named sets of characters of regular expressions.
final class CharClasses {
    static final CodePoints DIGIT = CodePoints.range('0', '9');
    static final CodePoints WORD =
            DIGIT.or(CodePoints.range('a', 'z')).or(CodePoints.range('A', 'Z')).or(CodePoints.of("_"));
    static final CodePoints SPACE = CodePoints.of("\t\n\u000b\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff")
            .or(CodePoints.range(0x2000, 0x200A));
    static final CodePoints NOT_LINE_END = CodePoints.of("\n\r\u2028\u2029").complement();

    private static final Map<String, CodePoints> PROPERTIES = new ConcurrentHashMap<>();
    private static final int MOST_CACHED = 100;

    private CharClasses() {}

    /// The general categories, found in one pass when the first one is needed.
    private static final class Categories {
        /// By the number that [Character#getType(int)] has for them.
        private static final String[] NAMES =
                ("Cn Lu Ll Lt Lm Lo Mn Me Mc Nd Nl No Zs Zl Zp Cc Cf - Co Cs Pd Ps Pe Pc Po" + " Sm Sc Sk So Pi Pf")
                        .split(" ");

        private static final CodePoints[] SETS = sets();

        private static CodePoints[] sets() {
            List<List<CodePoints.Range>> ranges = new ArrayList<>();
            for (int i = 0; i < NAMES.length; i++) {
                ranges.add(new ArrayList<>());
            }
            int from = 0;
            int type = Character.getType(0);
            for (int c = 1; c <= Character.MAX_CODE_POINT; c++) {
                int next = Character.getType(c);
                if (next != type) {
                    ranges.get(type).add(new CodePoints.Range(from, c - 1));
                    from = c;
                    type = next;
                }
            }
            ranges.get(type).add(new CodePoints.Range(from, Character.MAX_CODE_POINT));
            return ranges.stream().map(CodePoints::of).toArray(CodePoints[]::new);
        }

        /// {@return those of a category, or of all whose names begin so; null if there is none}
        static CodePoints named(String name) {
            CodePoints all = null;
            for (int i = 0; i < NAMES.length; i++) {
                if (name.matches("[A-Z][a-z]?") && NAMES[i].startsWith(name)) {
                    all = all == null ? SETS[i] : all.or(SETS[i]);
                }
            }
            return all;
        }
    }

    /// All characters one after the other, without a text that holds them.
    private record All(int from, int to) implements CharSequence {
        /// Code units before the surrogates.
        private static final int LOW = Character.MIN_SURROGATE;

        /// Those that one unit stands for.
        private static final int SINGLE = LOW + Character.MIN_SUPPLEMENTARY_CODE_POINT - Character.MAX_SURROGATE - 1;

        static int codePoint(int index) {
            return index < LOW
                    ? index
                    : index < SINGLE
                            ? index - LOW + Character.MAX_SURROGATE + 1
                            : (index - SINGLE) / 2 + Character.MIN_SUPPLEMENTARY_CODE_POINT;
        }

        @Override
        public int length() {
            return to - from;
        }

        @Override
        public char charAt(int index) {
            int at = from + index;
            int c = codePoint(at);
            return at < SINGLE
                    ? (char) c
                    : (at - SINGLE) % 2 == 0 ? Character.highSurrogate(c) : Character.lowSurrogate(c);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return new All(from + start, from + end);
        }
    }

    private static CodePoints having(Pattern several) {
        List<CodePoints.Range> ranges = new ArrayList<>();
        int supplementary = Character.MAX_CODE_POINT + 1 - Character.MIN_SUPPLEMENTARY_CODE_POINT;
        Matcher matcher = several.matcher(new All(0, All.SINGLE + 2 * supplementary));
        while (matcher.find()) {
            ranges.add(new CodePoints.Range(All.codePoint(matcher.start()), All.codePoint(matcher.end() - 1)));
        }
        return CodePoints.of(ranges);
    }

    /// {@return the characters with a Unicode property; null if it is unknown}
    ///
    /// @param name what is between the braces, such as `L`, `Script=Greek`
    static CodePoints property(String name) {
        CodePoints known = PROPERTIES.get(name);
        if (known != null) {
            return known;
        }
        String java = switch (name) {
            case "Letter" -> "L";
            case "Number" -> "N";
            case "Punctuation", "punct" -> "P";
            case "Symbol" -> "S";
            case "Separator" -> "Z";
            case "digit" -> "Nd";
            case "Uppercase_Letter" -> "Lu";
            case "Lowercase_Letter" -> "Ll";
            case "Decimal_Number" -> "Nd";
            case "Alphabetic", "Uppercase", "Lowercase", "White_Space", "Ideographic" -> "Is" + name;
            default -> name.replaceFirst("^(gc|General_Category)=", "").replaceFirst("^(sc|Script)=", "script=");
        };
        CodePoints category = Categories.named(java);
        if (category != null) {
            return category;
        }
        Pattern pattern;
        try {
            pattern = Pattern.compile("\\p{" + java + "}++");
        } catch (PatternSyntaxException e) {
            return null; // the caller names what is unknown
        }
        CodePoints set = having(pattern);
        if (PROPERTIES.size() < MOST_CACHED) {
            PROPERTIES.put(name, set);
        }
        return set;
    }
}
