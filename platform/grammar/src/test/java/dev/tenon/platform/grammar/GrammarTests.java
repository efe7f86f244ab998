package dev.tenon.platform.grammar;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What grammars in each notation accept, refuse, and do not understand.
class GrammarTests {
    private static void check(Grammar grammar, List<String> accepted, List<String> refused) {
        accepted.forEach(each -> assertTrue(grammar.matches(each), each));
        refused.forEach(each -> assertTrue(!grammar.matches(each), each));
    }

    private static GrammarException refusal(String schema) {
        return assertThrows(GrammarException.class, () -> Grammar.ofJsonSchema(schema));
    }

    @Test
    void regularExpressions() {
        check(Grammar.ofRegex("[a-c]+\\d{2,3}"), List.of("a12", "abc123"), List.of("12", "a1", "a1234", "d12"));
        check(Grammar.ofRegex("(?:x|y(?<n>z)?)*"), List.of("", "xyzx", "yz"), List.of("z", "xz"));
        check(Grammar.ofRegex("\\p{Lu}.\\u{1F600}\\uD83D\\uDE00"), List.of("Éß😀😀"), List.of("éß😀😀", "É\n😀😀"));
        check(Grammar.ofRegex("[^\\W\\d]\\S\\x41\\cJ"), List.of("a-A\n"), List.of("1-A\n", "a A\n"));
        check(Grammar.ofRegex("^a$|b"), List.of("a", "b"), List.of("", "ab"));
        check(Grammar.ofRegex("a$b|c"), List.of("c"), List.of("ab", "a"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "(?=a)b ; ahead",
                "(?<!a)b ; behind",
                "\\bx ; around",
                "(a)\\1 ; \\1",
                "\\p{Nope} ; Nope",
                "(^a)* ; '^'",
                "a$b ; contradict"
            })
    void whatLooksAroundIsRefused(String regex, String named) {
        GrammarException e = assertThrows(GrammarException.class, () -> Grammar.ofRegex(regex));
        assertEquals("GRAMMAR-002", e.code());
        assertTrue(e.getMessage().contains(named), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"(", ")", "[a", "a{2,1}", "*", "a**", "\\", "[z-a]", "\\x1", "\\u{}", "\\u{110000}", "(?<n"})
    void brokenRegularExpressionsAreNoSyntax(String regex) {
        assertEquals(
                "GRAMMAR-001",
                assertThrows(GrammarException.class, () -> Grammar.ofRegex(regex))
                        .code());
    }

    @Test
    void gbnf() {
        Grammar sums = Grammar.ofGbnf("""
                # sums of numbers, line by line
                root  ::= (sum "=" ws number "\\n")+
                sum   ::= term ([-+*/] term)*
                term  ::= number | "(" ws sum ")" ws   # nested
                number ::= [0-9]{1,3} ws
                ws    ::= [ \\t]*
                """);
        check(sums, List.of("1=1\n", "(1 +2)*3 = 9\n12=12\n"), List.of("", "1=1", "1+=2\n", "1234=1\n", "(1=1\n"));
        Grammar words = Grammar.ofGbnf("root ::= [^\\n\\x41-\\u0043] . \"\\U0001F600é\"{2}\n");
        check(words, List.of("Dx😀é😀é"), List.of("Ax😀é😀é", "Dx😀é", "\nx😀é😀é"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            value = {
                "a ::= \"x\" ! GRAMMAR-001", "root ::= b ! GRAMMAR-001", "root ::= (\"x\" ! GRAMMAR-001",
                "root ::= \"x ! GRAMMAR-001", "root ::= root \"x\" | \"y\" ! GRAMMAR-002",
                        "root ::= <think> ! GRAMMAR-002",
                "root ::= \"x\" root ! GRAMMAR-002", "root ::= \"x\"{1000000} ! GRAMMAR-003"
            })
    void grammarsThatAreRefused(String source, String code) {
        assertEquals(
                code,
                assertThrows(GrammarException.class, () -> Grammar.ofGbnf(source))
                        .code());
    }

    @Test
    void leftRecursionThroughEmptyTextsIsRefused() {
        assertThrows(GrammarException.class, () -> Grammar.ofGbnf("root ::= a root \"x\" | \"y\"\na ::= \"z\"?\n"));
    }

    @Test
    void schemasInTheOrderAndWithTheBlanksOfTheirTexts() {
        Grammar grammar = Grammar.ofJsonSchema("""
                {"type": "object", "properties": {"a": {"type": "integer", "minimum": -3, "exclusiveMaximum": 120},
                 "b": {"type": "number", "minimum": 0.25, "maximum": 10.5}, "c": {"type": "string", "format": "date"}},
                 "required": ["b"], "additionalProperties": false}
                """);
        check(
                grammar,
                List.of(
                        "{\"b\":0.25}",
                        "{\"a\": -3, \"b\": 10.50}",
                        "{\n  \"a\": 119,\n  \"b\": 9,\n  \"c\": \"2024-02-29\"\n}"),
                List.of(
                        "{}",
                        "{\"b\":1,\"a\":2}",
                        "{\"a\":-4,\"b\":1}",
                        "{\"a\":120,\"b\":1}",
                        "{\"b\":0.249}",
                        "{\"b\":10.51}",
                        "{\"b\":1,\"c\":\"2023-02-29\"}",
                        "{\"b\":1,\"d\":1}",
                        "{\"b\":   1}",
                        "{\"b\":1} "));
    }

    @Test
    void schemasOfOneValueAreMerged() {
        Grammar grammar = Grammar.ofJsonSchema("""
                {"$defs": {"list": {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/list"},
                 {"type": "null"}]}}, "required": ["next"]}},
                 "allOf": [{"$ref": "#/$defs/list"}, {"properties": {"v": {"enum": [1, "x"]}}, "required": ["v"]}],
                 "unknown": 1}
                """.replace(",\n \"unknown\": 1", ""));
        check(
                grammar,
                List.of("{\"next\":{\"next\":null},\"v\":\"x\"}"),
                List.of("{\"next\":{\"next\":null}}", "{\"next\":{},\"v\":1}", "{\"next\":null,\"v\":2}"));
        check(
                Grammar.ofJsonSchema("""
                        {"oneOf": [{"properties": {"k": {"const": "a"}, "x": {"type": "integer"}}, "required": ["k", "x"],
                         "additionalProperties": false, "type": "object"}, {"properties": {"k": {"const": "b"}},
                         "required": ["k"], "type": "object", "additionalProperties": false}]}
                        """),
                List.of("{\"k\":\"a\",\"x\":1}", "{\"k\":\"b\"}"),
                List.of("{\"k\":\"a\"}", "{\"k\":\"b\",\"x\":1}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            value = {
                "{'properties':{'a':{'if':{'pattern':'a'},'then':{'maxLength':3}}}} ! if ! /properties/a",
                "{'items':{'uniqueItems':true}} ! uniqueItems ! /items",
                "{'maxlength':3} ! maxlength ! ''",
                "{'oneOf':[{'type':'string'},{'minLength':2}]} ! oneOf ! ''",
                "{'pattern':'(?=a)'} ! pattern ! ''",
                "{'format':'iri'} ! format ! ''",
                "{'$ref':'http://example.com/x'} ! $ref ! ''",
                "{'$ref':'#'} ! $ref ! ''",
                "{'not':{'properties':{'a':{'pattern':'a'}}}} ! not ! ''",
                "{'not':{'const':{'a':1}}} ! not ! ''",
                "{'contains':{'pattern':'a'},'maxContains':1} ! contains ! ''",
                "{'items':{'enum':[1,2]},'contains':{'const':1},'uniqueItems':true} ! uniqueItems ! ''",
                "{'unevaluatedProperties':false} ! unevaluatedProperties ! ''",
                "{'minProperties':3} ! minProperties ! ''",
                "{'patternProperties':{'a':true,'b':true}} ! patternProperties ! ''",
                "{'items':{'$dynamicRef':'#a'}} ! $dynamicRef ! /items"
            })
    void keywordsThatCannotBeEnforcedAreNamedWithTheirPlace(String schema, String keyword, String pointer) {
        GrammarException e = refusal(schema.replace('\'', '"'));
        assertEquals("GRAMMAR-002", e.code(), e.getMessage());
        assertEquals(keyword, e.keyword(), e.getMessage());
        assertEquals(pointer, e.pointer(), e.getMessage());
        assertTrue(e.getMessage().contains("'" + keyword + "'"), e.getMessage());
    }

    @Test
    void multiplesAsJsonWritesThem() {
        check(
                Grammar.ofJsonSchema("{\"type\":\"number\",\"multipleOf\":0.01}"),
                List.of("0.5", "0.50", "0.500", "5", "-12.34", "12.340", "0"),
                List.of("0.505", "5e-1", "0.", "1.001"));
        check(
                Grammar.ofJsonSchema("{\"type\":\"number\",\"multipleOf\":0.25}"),
                List.of("0.5", "0.75", "0.250", "3", "1.5"),
                List.of("0.1", "0.7", "0.05", "0.252"));
    }

    private static Grammar schema(String schema) {
        return Grammar.ofJsonSchema(schema.replace('\'', '"'));
    }

    @Test
    void dependenciesAndConditions() {
        check(
                schema("{'type':'object','properties':{'a':{'type':'integer'},'b':{'type':'integer'},'c':{}},"
                        + "'dependentRequired':{'a':['b']},'dependencies':{'c':['a']},'additionalProperties':false}"),
                List.of("{}", "{\"b\":1}", "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2,\"c\":3}"),
                List.of("{\"a\":1}", "{\"c\":1}", "{\"b\":1,\"c\":1}"));
        check(
                schema("{'properties':{'k':{'enum':['x','y','z']},'v':{}},'required':['k','v'],'type':'object',"
                        + "'if':{'properties':{'k':{'const':'x'}}},'then':{'properties':{'v':{'type':'null'}}},"
                        + "'else':{'properties':{'v':{'const':1}}},'additionalProperties':false}"),
                List.of("{\"k\":\"x\",\"v\":null}", "{\"k\":\"y\",\"v\":1}"),
                List.of("{\"k\":\"x\",\"v\":1}", "{\"k\":\"z\",\"v\":null}"));
    }

    @Test
    void differentAndCountedItems() {
        check(
                schema("{'type':'array','items':{'enum':['a','b','c']},'uniqueItems':true,'minItems':1,'maxItems':2}"),
                List.of("[\"a\"]", "[\"c\",\"a\"]", "[\"a\", \"b\"]"),
                List.of("[]", "[\"a\",\"a\"]", "[\"a\",\"b\",\"c\"]"));
        check(
                schema("{'type':'array','items':{'enum':[1,2,3,4,5,6,7,8,9]},'uniqueItems':true}"),
                List.of("[]", "[1,9]", "[2,3,4]"),
                List.of("[9,1]", "[2,2]"));
        check(
                schema("{'type':'array','items':{'type':'integer'},'contains':{'minimum':10},'minContains':2,"
                        + "'maxContains':3,'maxItems':5}"),
                List.of("[10,11]", "[1,10,2,12,13]"),
                List.of("[]", "[10]", "[10,11,12,13]", "[1,1,1,1,10,11]"));
    }

    @Test
    void excludedValues() {
        check(
                schema("{'type':['string','integer','boolean'],'not':{'enum':['a',5,true]}}"),
                List.of("\"b\"", "\"aa\"", "4", "55", "false"),
                List.of("\"a\"", "5", "true", "\"\\u0061\""));
        check(
                schema("{'type':'object','properties':{'a':{'type':'integer'}},'not':{'required':['a','b']},"
                        + "'additionalProperties':{'type':'null'}}"),
                List.of("{\"a\":1}", "{\"b\":null}", "{}"),
                List.of("{\"a\":1,\"b\":null}"));
        check(
                schema("{'type':'object','propertyNames':{'enum':['a','b','c']},'minProperties':2}"),
                List.of("{\"a\":1,\"c\":2}"),
                List.of("{\"a\":1}", "{\"a\":1,\"d\":1}"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[]",
                "{\"type\":\"strin\"}",
                "{\"minLength\":-1}",
                "{\"required\":\"a\"}",
                "{\"a\":1,\"a\":2}",
                "{\"type\":\"string\"} x",
                "{\"$ref\":\"#/nowhere\"}",
                "{\"allOf\":{}}",
                "{\"properties\":{\"a\":3}}"
            })
    void whatIsNoSchemaIsNoSyntax(String schema) {
        assertEquals("GRAMMAR-001", refusal(schema).code());
    }

    @Test
    void contradictionsAreRefused() {
        assertTrue(refusal("{\"type\":\"string\",\"pattern\":\"^a{5}$\",\"maxLength\":4}")
                .getMessage()
                .contains("contradict"));
        assertEquals(
                "GRAMMAR-002",
                refusal("{\"type\":\"integer\",\"minimum\":5,\"maximum\":4}").code());
        assertEquals("GRAMMAR-002", refusal("false").code());
    }

    @Test
    void limitsEndWhatCostsTooMuch() {
        assertEquals("GRAMMAR-003", refusal("[".repeat(500)).code());
        assertEquals("GRAMMAR-003", refusal(" ".repeat(1_000_001)).code());
        String nested = "{\"items\":".repeat(60) + "{}" + "}".repeat(60);
        assertTrue(Grammar.ofJsonSchema(nested).matches("[[[]]]"));
        assertEquals(
                "GRAMMAR-003",
                assertThrows(GrammarException.class, () -> Grammar.ofRegex("(".repeat(200) + ")".repeat(200)))
                        .code());
        String choices = "{\"anyOf\":[" + "{\"minLength\":1},".repeat(19) + "{}]}";
        String product = "{\"allOf\":[" + (choices + ",").repeat(4) + choices + "]}";
        assertEquals("GRAMMAR-003", refusal(product).code());
        GrammarBuilder small =
                new GrammarBuilder(new GrammarLimits(1000, 10, 100, 1000, 1_000_000, 1_000_000, 1_000_000, 1000));
        assertEquals(
                "GRAMMAR-003",
                assertThrows(GrammarException.class, () -> small.literal("x".repeat(300)))
                        .code());
    }

    @Test
    void aTokenThatLeadsToTooManyStatesIsRefused() {
        ByteTokenizer tokens = new ByteTokenizer("ab".repeat(15_000));
        TokenConstraint wide = Grammar.ofRegex("[ab]*a[ab]{2000}").constraint(new TokenVocabulary(tokens));
        assertEquals(
                "GRAMMAR-003",
                assertThrows(GrammarException.class, () -> wide.accept(256)).code());
        wide.accept('a'); // it stands where it stood
    }

    @Test
    void grammarsArePutTogether() {
        GrammarBuilder builder = new GrammarBuilder(GrammarLimits.DEFAULT);
        Expr call = builder.sequence(
                builder.literal("<call>"),
                builder.jsonSchema("{\"type\":\"object\",\"additionalProperties\":{\"type\":\"boolean\"}}"),
                builder.literal("</call>"));
        Grammar grammar = builder.build(builder.anyOf(builder.repeat(call, 1, 2), builder.regex("no\\w+")));
        check(
                grammar,
                List.of("nothing", "<call>{\"a\":true}</call>", "<call>{}</call><call>{}</call>"),
                List.of("", "<call>{\"a\":1}</call>", "<call>{}</call><call>{}</call><call>{}</call>"));
    }
}
