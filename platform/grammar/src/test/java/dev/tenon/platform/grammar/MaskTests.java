package dev.tenon.platform.grammar;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.TokenConstraint;
import dev.tenon.platform.grammar.expr.Expr;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.GrammarLimits;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Masks, beside what accepting each single token of the vocabulary says.
class MaskTests {
    private static final ByteTokenizer TOKENS = new ByteTokenizer(
            "abc",
            "abc",
            "\":",
            "\": ",
            ", \"",
            "{\"",
            "}",
            "}}",
            "],",
            "true",
            "12",
            "-1",
            "é",
            "\u00e9t",
            "\"}",
            "\\n",
            "\\u00",
            "a\"",
            "abcdefghijkl",
            "x".repeat(40),
            "日本",
            " ",
            "   ",
            "\n",
            "name",
            "na",
            "e\": ");
    private static final TokenVocabulary VOCABULARY = new TokenVocabulary(TOKENS);

    private static boolean has(TokenConstraint constraint, int token) {
        long[] words = new long[VOCABULARY.words()];
        constraint.mask(words);
        return (words[token >> 6] >>> token & 1) != 0;
    }

    /// Accepts a text token by token, and compares each mask on the way.
    private static void compare(Grammar grammar, String text) {
        TokenConstraint constraint = grammar.constraint(VOCABULARY);
        int[] tokens = TOKENS.encode(text, false, false);
        for (int i = 0; ; i++) {
            for (int id = 0; id < TOKENS.vocabularySize(); id++) {
                TokenConstraint copy = constraint.copy();
                boolean may = true;
                try {
                    copy.accept(id);
                } catch (IllegalArgumentException e) {
                    may = false;
                }
                int token = id;
                int at = i;
                assertEquals(
                        may, has(constraint, id), () -> TOKENS.piece(token) + " after token " + at + " of " + text);
            }
            if (i == tokens.length) {
                break;
            }
            constraint.accept(tokens[i]);
        }
        assertTrue(constraint.isComplete(), text);
    }

    @Test
    void controlTokensFollowWhereAGrammarNamesThem() {
        int control = TOKENS.end() - 1;
        GrammarBuilder builder = new GrammarBuilder(GrammarLimits.DEFAULT);
        Grammar grammar = builder.build(builder.sequence(
                builder.literal("true"),
                builder.token(TOKENS.piece(control)),
                builder.repeat(builder.regex("[^x]"), 0, Expr.UNBOUNDED)));
        TokenConstraint constraint = grammar.constraint(VOCABULARY);
        assertArrayEquals(TOKENS.encode("true", false, false), constraint.forced());
        for (int token : constraint.forced()) {
            constraint.accept(token);
        }
        assertEquals(0, constraint.forced().length);
        for (int id = 0; id < TOKENS.vocabularySize(); id++) {
            assertEquals(id == control, has(constraint, id), TOKENS.piece(id));
        }
        constraint.accept(control);
        assertTrue(constraint.isComplete());
        assertFalse(has(constraint, control));
        assertFalse(has(constraint, 0xFF));
        assertEquals(7, VOCABULARY.controlAt("x" + TOKENS.piece(control) + "y", 1) + 2);
        assertEquals(0, VOCABULARY.controlAt("x" + TOKENS.piece(control) + "y", 0));
    }

    @Test
    void stringsWithoutQuotesAreWhatTheirSchemaAllows() {
        GrammarBuilder builder = new GrammarBuilder(GrammarLimits.DEFAULT);
        Grammar grammar = builder.build(builder.sequence(
                builder.literal("<"),
                builder.rawString("{\"type\":\"string\",\"minLength\":2,\"pattern\":\"^[a\\n\\\"</]\"}", "</a>"),
                builder.literal("</a>")));
        compare(grammar, "<a\" \\ \n日本 </b></a>");
        assertFalse(grammar.matches("<a</a>"));
        assertFalse(grammar.matches("<b日</a>"));
        assertFalse(grammar.matches("<ab</a>b</a>"));
        builder = new GrammarBuilder(GrammarLimits.DEFAULT);
        Grammar words = builder.build(builder.rawString("{\"enum\":[\"ab\",1,\"cd\"],\"type\":\"string\"}", "c"));
        assertTrue(words.matches("ab"));
        assertFalse(words.matches("cd"));
        GrammarBuilder other = new GrammarBuilder(GrammarLimits.DEFAULT);
        assertThrows(GrammarException.class, () -> other.rawString("{\"type\":[\"string\",\"null\"]}", "x"));
        assertThrows(GrammarException.class, () -> other.rawString("{\"type\":\"string\",\"not\":{}}", "x"));
    }

    @Test
    void masksHaveTheTokensThatAreAccepted() {
        String any = "{\"name\": \"abc日本é\\n\", \"b\": [true, -12e3, null, {}], \"c\":{\"d\":\"\\u00e9\"}}";
        compare(Grammar.ofJsonSchema("true"), any);
        String bounded = "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":2,\"maxLength\":%d}}";
        for (int most : new int[] {2, 9, 10, 11, 15, 16, 17, 18, 40, 41, 200}) {
            compare(Grammar.ofJsonSchema(bounded.formatted(most)), "[\"ab\",\"é日\", \"\\\"c\"]");
        }
        compare(
                Grammar.ofJsonSchema("{\"properties\":{\"name\":{\"pattern\":\"^a.*c$\",\"type\":\"string\"}},"
                        + "\"additionalProperties\":{\"type\":\"integer\"}}"),
                "{\"name\":\"abc\", \"nam\": 12}");
        compare(
                Grammar.ofJsonSchema("{\"type\":\"string\",\"format\":\"email\",\"maxLength\":24}"),
                "\"abc.name-na@abcdefghi\"");
        compare(Grammar.ofJsonSchema("{\"type\":\"string\",\"format\":\"uri\"}"), "\"name://abc.abcdefghijkl/na\"");
        String pattern = "{\"type\":\"string\",\"pattern\":\"^%s$\"}";
        for (String each :
                new String[] {"[a-z]{2,20}[0-9]", "[A-Za-z]*é?", "..{0,17}", ".*[^a-z]", "(name|[a-z]{3})+"}) {
            compare(
                    Grammar.ofJsonSchema(pattern.formatted(each)),
                    each.startsWith("(") ? "\"nameabc\"" : each.startsWith("[A") ? "\"abcé\"" : "\"abc1\"");
        }
        compare(Grammar.ofGbnf("root ::= [a-z]+ (\" \" root)?"), "abc name x");
        compare(Grammar.ofGbnf("root ::= [é-ü] [x-z]* root?"), "éx");
        compare(Grammar.ofRegex("(abc|12)*\\n"), "abc12abc\n");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 5, 10, 12, 15, 16, 17, 39, 40})
    void plainTextOfEachLengthIsCutAtTheLimit(int most) {
        String schema = "{\"type\":\"string\",\"maxLength\":" + most + "}";
        TokenConstraint constraint = Grammar.ofJsonSchema(schema).constraint(VOCABULARY);
        constraint.accept('"');
        assertEquals(most >= 3, has(constraint, 256), "abc");
        assertEquals(most >= 12, has(constraint, 256 + 18), "abcdefghijkl");
        assertEquals(most >= 40, has(constraint, 256 + 19), "40 times x");
        assertEquals(most >= 2, has(constraint, 256 + 20), "two characters of three bytes each");
    }

    @Test
    void textEndsOnlyWhereItMay() {
        TokenConstraint constraint = Grammar.ofRegex("ab?").constraint(VOCABULARY);
        assertFalse(has(constraint, TOKENS.end()));
        assertThrows(IllegalArgumentException.class, () -> constraint.accept(TOKENS.end()));
        assertFalse(has(constraint, TOKENS.end() - 1), "a control token");
        constraint.accept('a');
        assertTrue(constraint.isComplete());
        assertFalse(constraint.isEnded());
        assertTrue(has(constraint, TOKENS.end()));
        TokenConstraint other = constraint.copy();
        other.accept(TOKENS.end());
        assertTrue(other.isEnded());
        constraint.accept('b');
        assertTrue(constraint.isEnded(), "nothing may follow");
        assertThrows(IllegalArgumentException.class, () -> constraint.accept('b'));
    }

    @Test
    void forcedTokensAreThoseOfTheTokenizerWithoutTheLast() {
        TokenConstraint constraint = Grammar.ofJsonSchema(
                        "{\"properties\":{\"name\":{\"const\":\"abc\"}},\"required\":[\"name\"],\"additionalProperties\":false}")
                .constraint(VOCABULARY);
        constraint.accept('{');
        assertArrayEquals(new int[0], constraint.forced(), "blanks may follow");
        constraint.accept('"');
        int[] forced = constraint.forced();
        assertEquals(
                List.of("name"),
                java.util.Arrays.stream(forced).mapToObj(TOKENS::piece).toList());
        TokenConstraint end = Grammar.ofRegex("x?abc12").constraint(VOCABULARY);
        end.accept('x');
        assertArrayEquals(TOKENS.encode("abc12", false, false), end.forced(), "the end needs no token after it");
    }

    @Test
    void aVocabularyWithoutANeededByteIsRefused() {
        ByteTokenizer tokens = new ByteTokenizer() {
            @Override
            public byte[] bytes(int id) {
                return id == 'q' ? new byte[0] : super.bytes(id);
            }
        };
        TokenConstraint constraint = Grammar.ofRegex("q").constraint(new TokenVocabulary(tokens));
        long[] words = new long[8];
        assertTrue(assertThrows(dev.tenon.platform.grammar.expr.GrammarException.class, () -> constraint.mask(words))
                .getMessage()
                .contains("no token"));
    }

    @Test
    void rightRecursionNeedsNoMoreStates() {
        Grammar grammar = Grammar.ofGbnf("root ::= \"a\" root | \"b\"");
        assertTrue(grammar.matches("a".repeat(100_000) + "b"));
        assertFalse(grammar.matches("a".repeat(100_000)));
        Grammar nested = Grammar.ofGbnf("root ::= \"(\" root \")\" | \"\"");
        assertTrue(nested.matches("(".repeat(50_000) + ")".repeat(50_000)));
        assertFalse(nested.matches("(".repeat(500) + ")".repeat(501)));
    }
}
