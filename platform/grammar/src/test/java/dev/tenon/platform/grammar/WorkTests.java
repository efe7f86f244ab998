package dev.tenon.platform.grammar;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.TokenConstraint.LateException;
import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What grammars may cost.
@Timeout(120)
class WorkTests {
    private static final ByteTokenizer TOKENS = new ByteTokenizer("ab", "aaaaaaaaaaaaaaaa", "b".repeat(30));
    private static final TokenVocabulary VOCABULARY = new TokenVocabulary(TOKENS);

    /// A grammar whose compilation would take too much.
    private record Source(String name, Supplier<Grammar> compile) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static String list(int count, String each, String between) {
        return IntStream.range(0, count)
                .mapToObj(i -> each.replace("#", i + ""))
                .collect(Collectors.joining(between));
    }

    private static Source schema(String name, String schema) {
        return new Source(name, () -> Grammar.ofJsonSchema(schema.replace('\'', '"')));
    }

    private static List<Source> tooLarge() {
        List<Source> all = new ArrayList<>();
        all.add(schema("nested counts", "{'type':'string','pattern':'(((a{0,99}){0,99}){0,99}){0,99}'}"));
        all.add(new Source(
                "nested counts in GBNF", () -> Grammar.ofGbnf("root ::= ((\"a\"{0,500} \"b\"){0,500}){2,9}")));
        all.add(new Source("one in GBNF", () -> Grammar.ofGbnf("root ::= ((\"a\"{2,500} | \"b\"){400,})+")));
        all.add(new Source(
                "rules that end late",
                () -> Grammar.ofGbnf("root ::= r0\n" + list(20_000, "r# ::= s# \"x\"?\n", "")
                        + IntStream.range(0, 20_000)
                                .mapToObj(i -> "s" + i + " ::= " + (i < 19_999 ? "r" + (i + 1) : "\"y\"") + "\n")
                                .collect(Collectors.joining()))));
        all.add(schema(
                "many that exclude each other",
                "{'oneOf':[" + list(1900, "{'properties':{'k':{'const':#}},'required':['k'],'type':'object'}", ",")
                        + "]}"));
        all.add(schema("patterns of names", "{'patternProperties':{" + list(300, "'^k#_.{0,50}$':{}", ",") + "}}"));
        all.add(schema("dependencies", "{'type':'object','dependentRequired':{" + list(30, "'a#':['b#']", ",") + "}}"));
        all.add(schema(
                "references",
                "{'$ref':'#/$defs/d0','$defs':{"
                        + IntStream.range(0, 5000)
                                .mapToObj(i -> "'d" + i + "':{'$ref':'#/$defs/d" + (i + 1) + "'}")
                                .collect(Collectors.joining(","))
                        + ",'d5000':{}}}"));
        all.add(new Source(
                "sets of many characters",
                () -> Grammar.ofRegex("["
                        + IntStream.range(0, 100_000)
                                .map(i -> 0x10000 + 2 * i)
                                .mapToObj(Character::toString)
                                .collect(Collectors.joining())
                        + "]")));
        return all;
    }

    @ParameterizedTest
    @MethodSource
    void tooLarge(Source source) {
        GrammarException e = assertThrows(GrammarException.class, source.compile()::get);
        assertEquals("GRAMMAR-003", e.code(), e.getMessage());
    }

    @Test
    void manyReferencesToOneSchemaAreOne() {
        String rules = IntStream.range(0, 40)
                .mapToObj(i -> "'d#':{'allOf':[{'$ref':'#/$defs/d%1$d'},{'$ref':'#/$defs/d%1$d'}]}"
                        .formatted(i + 1)
                        .replace("d#", "d" + i))
                .collect(Collectors.joining(","));
        Grammar grammar = Grammar.ofJsonSchema("{'$ref':'#/$defs/d0','$defs':{%s,'d40':{'type':'null'}}}"
                .formatted(rules)
                .replace('\'', '"'));
        assertTrue(grammar.matches("null"));
        assertFalse(grammar.matches("1"));
    }

    private static Grammar heavy() {
        return Grammar.ofRegex("(((a{0,9}){0,9}){0,9}){0,9}b");
    }

    /// What is late changes nothing, and is there for those who wait for it.
    @Test
    void aQuickCallIsLateRatherThanLong() {
        TokenConstraint constraint = heavy().constraint(VOCABULARY);
        TokenConstraint patient = heavy().constraint(VOCABULARY);
        int late = 0;
        for (int i = 0; i < 8; i++) {
            long[] mask = new long[VOCABULARY.words()];
            long[] expected = new long[VOCABULARY.words()];
            assertTrue(constraint.quick(true));
            try {
                constraint.mask(mask);
            } catch (LateException e) {
                late++;
                constraint.quick(false);
                constraint.mask(mask);
            }
            patient.mask(expected);
            assertArrayEquals(expected, mask);
            constraint.quick(true);
            constraint.accept('a'); // the mask has made it quick
            patient.accept('a');
        }
        assertTrue(late > 0, "a late mask");
        TokenConstraint light = Grammar.ofRegex("[a-z]{3}").constraint(VOCABULARY);
        light.quick(true);
        light.mask(new long[VOCABULARY.words()]);
    }

    @Test
    void aTextEndsWhenItsMasksHaveTakenTooMuch() {
        TokenConstraint constraint = Grammar.ofGbnf("root ::= a{0,99}\na ::= b{0,99}\nb ::= c{0,99}\nc ::= [a-z]{0,99}")
                .constraint(VOCABULARY);
        GrammarException e = assertThrows(GrammarException.class, () -> {
            for (int i = 0; i < 2000; i++) {
                constraint.mask(new long[VOCABULARY.words()]);
                constraint.accept('a');
            }
        });
        assertEquals("GRAMMAR-003", e.code());
    }

    @Test
    void anInterruptedThreadLeavesAMask() {
        TokenConstraint constraint = heavy().constraint(VOCABULARY);
        Thread.currentThread().interrupt();
        TenonException e = assertThrows(TenonException.class, () -> constraint.mask(new long[VOCABULARY.words()]));
        assertTrue(Thread.interrupted());
        assertEquals("STATE-004", e.code());
        constraint.mask(new long[VOCABULARY.words()]); // as if nothing had been
    }

    @Test
    void codesComeOnceInMessages() {
        for (String pattern : List.of("(?=a)", "(a)\\\\1", "(", "a{0,999}{0,999}", "((a{0,999}){0,999})")) {
            GrammarException e = assertThrows(
                    GrammarException.class,
                    () -> Grammar.ofJsonSchema("{\"type\":\"string\",\"pattern\":\"" + pattern + "\"}"));
            assertEquals(e.getMessage().length() - 13, e.getMessage().indexOf("[GRAMMAR-"), e.getMessage());
            assertEquals("pattern", e.keyword());
        }
    }
}
