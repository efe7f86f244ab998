package dev.tenon.platform.grammar.regex;

import dev.tenon.platform.grammar.expr.CodePoints;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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
        Pattern pattern;
        try {
            pattern = Pattern.compile("\\p{" + java + "}");
        } catch (PatternSyntaxException e) {
            return null; // the caller names what is unknown
        }
        CodePoints set =
                CodePoints.where(c -> pattern.matcher(Character.toString(c)).matches());
        if (PROPERTIES.size() < MOST_CACHED) {
            PROPERTIES.put(name, set);
        }
        return set;
    }
}
