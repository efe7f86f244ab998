package dev.tenon.platform.grammar.regex;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tenon.platform.grammar.expr.CodePoints;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;

/// The sets of Unicode properties, by what Java says of each character.
class CharClassesTests {
    private static String category(int c) {
        return switch (Character.getType(c)) {
            case Character.DASH_PUNCTUATION -> "Pd";
            case Character.START_PUNCTUATION -> "Ps";
            case Character.END_PUNCTUATION -> "Pe";
            case Character.CONNECTOR_PUNCTUATION -> "Pc";
            case Character.OTHER_PUNCTUATION -> "Po";
            case Character.INITIAL_QUOTE_PUNCTUATION -> "Pi";
            case Character.FINAL_QUOTE_PUNCTUATION -> "Pf";
            case Character.CONTROL -> "Cc";
            case Character.FORMAT -> "Cf";
            case Character.UNASSIGNED -> "Cn";
            case Character.PRIVATE_USE -> "Co";
            case Character.SURROGATE -> "Cs";
            default -> "other";
        };
    }

    private static void check(String property, IntPredicate has) {
        CodePoints set = CharClasses.property(property);
        for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
            boolean surrogate = c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;
            if (set.contains(c) != (has.test(c) && !surrogate)) {
                throw new AssertionError("U+" + Integer.toHexString(c) + " in " + property + ": " + set.contains(c));
            }
        }
    }

    @Test
    void propertiesHaveTheCharactersThatJavaSays() {
        check("L", Character::isLetter);
        check("Lu", c -> Character.getType(c) == Character.UPPERCASE_LETTER);
        check("Decimal_Number", Character::isDigit);
        check("P", c -> "Pd Ps Pe Pc Po Pi Pf".contains(category(c)));
        check("C", c -> "Cc Cf Cn Co Cs".contains(category(c)));
        check("Cn", c -> Character.getType(c) == Character.UNASSIGNED);
        check("Co", c -> Character.getType(c) == Character.PRIVATE_USE);
        check("Alphabetic", Character::isAlphabetic);
        check("Script=Han", c -> Character.UnicodeScript.of(c) == Character.UnicodeScript.HAN);
        assertEquals(CharClasses.property("gc=L"), CharClasses.property("Letter"));
        assertNull(CharClasses.property("Nope"));
        assertNull(CharClasses.property(""));
    }
}
