package dev.tenon.platform.core.text.words;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.platform.core.text.TextTestData;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Compares the scanners written by hand with the regular expressions that the models publish.
class PreTokenizersTests {
    private static final String GPT2 =
            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
    private static final String CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
    private static final String TAIL = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    private static final String UPPER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
    private static final String LOWER = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";

    private static final String SIGNED =
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+";

    private static final Map<String, Pattern> PATTERNS = new ConcurrentHashMap<>();

    private static String cl100k(String numbers) {
        return CONTRACTION + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" + numbers + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" + TAIL;
    }

    private static String o200k(String numbers, String contraction) {
        String start = "[^\\r\\n\\p{L}\\p{N}]?";
        return start + UPPER + "*" + LOWER + "+" + contraction + "|" + start + UPPER + "+" + LOWER + "*" + contraction
                + "|" + numbers + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" + TAIL;
    }

    private static List<String> regex(String text, String... expressions) {
        List<String> words = List.of(text);
        for (String expression : expressions) {
            Pattern pattern = PATTERNS.computeIfAbsent(expression, PreTokenizersTests::pattern);
            List<String> cut = new ArrayList<>();
            for (String word : words) {
                Matcher matcher = pattern.matcher(word);
                int at = 0;
                while (matcher.find()) {
                    if (matcher.start() > at) {
                        cut.add(word.substring(at, matcher.start()));
                    }
                    if (matcher.end() > matcher.start()) {
                        cut.add(matcher.group());
                    }
                    at = matcher.end();
                }
                if (at < word.length()) {
                    cut.add(word.substring(at));
                }
            }
            words = cut;
        }
        return words;
    }

    private static Pattern pattern(String expression) {
        String spaces = "\\p{IsWhite_Space}";
        return Pattern.compile(expression
                .replace("[^\\s", "[^" + spaces)
                .replace("\\s", spaces)
                .replace("\\S", "\\P{IsWhite_Space}")
                .replace("\\d", "\\p{Nd}"));
    }

    private static List<String> words(String name, String text) {
        List<String> words = new ArrayList<>();
        String around = "x" + text + "1";
        PreTokenizers.of(name, "test")
                .splitter()
                .split(around, 1, around.length() - 1, (from, to) -> words.add(around.substring(from, to)));
        return words;
    }

    private static void assertSame(String name, String... expressions) {
        for (int seed = 0; seed < 4000; seed++) {
            Random random = new Random(seed);
            String text = seed % 3 == 0 ? ofFew(random) : TextTestData.randomText(random, 24);
            List<String> expected = text.isEmpty() ? List.of() : regex(text, expressions);
            assertEquals(expected, words(name, text), name + ", seed " + seed);
        }
    }

    /// {@return a text of few different characters, which has runs of them}
    private static String ofFew(Random random) {
        int[] all = "  \n\r\t'szAB019\u00b2\u0663\u0301.,/_()|\uff0c\u3001\u4e00\uac00\u3042\u0e41!"
                .codePoints()
                .toArray();
        int[] few = random.ints(4, 0, all.length).map(i -> all[i]).toArray();
        StringBuilder text = new StringBuilder();
        random.ints(random.nextInt(30), 0, few.length).forEach(i -> text.appendCodePoint(few[i]));
        return text.toString();
    }

    @Test
    void gpt2FollowsItsExpression() {
        assertSame("gpt-2", GPT2);
    }

    @Test
    void llama3FollowsItsExpression() {
        assertSame("llama-bpe", cl100k("\\p{N}{1,3}"));
    }

    @Test
    void qwen2FollowsItsExpression() {
        assertSame("qwen2", cl100k("\\p{N}"));
    }

    @Test
    void bailingFollowsItsExpression() {
        assertSame(
                "bailingmoe2",
                "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"
                        + "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+");
    }

    @Test
    void tekkenFollowsItsExpression() {
        assertSame("tekken", o200k("\\p{N}", ""));
    }

    @Test
    void gpt4oFollowsItsExpression() {
        assertSame("gpt-4o", o200k("\\p{N}{1,3}", CONTRACTION + "?"));
    }

    @Test
    void minimaxFollowsTheExpressionOfGpt4o() {
        assertSame("minimax-m2", o200k("\\p{N}{1,3}", CONTRACTION + "?"));
    }

    @Test
    void kimiFollowsItsExpression() {
        String start = "[^\\r\\n\\p{L}\\p{N}]?";
        String upper = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{IsHan}]]";
        String lower = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{IsHan}]]";
        assertSame(
                "kimi-k2",
                "\\p{IsHan}+|" + start + upper + "*" + lower + "+" + CONTRACTION + "?|" + start + upper + "+" + lower
                        + "*" + CONTRACTION + "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" + TAIL);
    }

    @Test
    void qwen35FollowsItsExpression() {
        assertSame(
                "qwen35",
                CONTRACTION
                        + "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*"
                        + TAIL);
    }

    @Test
    void seedFollowsItsExpression() {
        assertSame("seed-coder", CONTRACTION + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+" + TAIL);
    }

    @Test
    void smollmFollowsItsExpressions() {
        assertSame("smollm", "\\p{N}", GPT2);
    }

    @Test
    void deepSeekV3FollowsItsExpressions() {
        assertSame(
                "deepseek-v3",
                "\\p{N}{1,3}",
                "[一-龥\u3040-ゟ゠-ヿ]+",
                "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
                        + "| ?[\\p{P}\\p{S}]+[\\r\\n]*" + TAIL);
    }

    @Test
    void deepSeekCoderFollowsItsExpressions() {
        assertSame("deepseek-coder", "[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+", "\\p{N}");
    }

    @Test
    void defaultFollowsItsExpressions() {
        assertSame("default", "[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]");
        assertSame("falcon", "[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]");
    }

    @Test
    void jaisFollowsItsExpression() {
        String powers = "";
        for (int n = 512; n > 2; n /= 2) {
            powers += "|\\s{" + n + "}(?!\\S)";
        }
        String expression = cl100k("\\p{N}{1,3}").replace("|\\s+(?!\\S)|\\s+", powers + "|\\s{1,2}(?!\\S)|\\s");
        assertSame("jais-2", expression);
        for (int n = 1; n < 1300; n += 7) {
            for (String end : List.of("", "x", ".", "\n", "7")) {
                String text = "a" + " ".repeat(n) + end;
                assertEquals(regex(text, expression), words("jais-2", text));
            }
        }
    }

    @Test
    void miniCpmFollowsItsExpressions() {
        assertSame("minicpm5", "\\p{N}{1,3}", cl100k("\\p{N}+"));
    }

    @Test
    void lagunaFollowsItsExpressions() {
        assertSame("laguna", "[^\\n]+|[\\n]+", cl100k("\\p{N}"));
    }

    @Test
    void ufakzekaIsQwen2WithoutContractions() {
        assertSame("ufakzeka", cl100k("\\p{N}").replace(CONTRACTION + "|", ""));
        assertEquals(List.of("Ankara", "'dan"), words("ufakzeka", "Ankara'dan"));
    }

    @Test
    void exaoneMoeFollowsItsExpression() {
        assertSame(
                "exaone-moe",
                CONTRACTION + "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}"
                        + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+");
        assertEquals(List.of("as a whole", ".", " And", " ", " more"), words("exaone-moe", "as a whole. And  more"));
    }

    @Test
    void youtuFollowsItsExpressions() {
        assertSame(
                "youtu",
                "[\uac00-\ud7a3\u3131-\u318e]+|[！…“”‘’—：；，、-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+"
                        + "|[一-龥\u3040-ゟ゠-ヿ]+",
                o200k("\\p{N}", CONTRACTION + "?"));
    }

    @Test
    void tinyAyaFollowsItsExpressions() {
        String border = "(?![\\p{Nd}\\p{M}\\p{IsAlphabetic}\\p{Pc}])";
        assertSame("tiny_aya", "\\d{1,3}(?=(?:\\d{3})*" + border + ")", o200k("\\p{N}{1,3}", CONTRACTION + "?"));
        assertEquals(List.of("1", "234", "567", ".", "89"), words("tiny_aya", "1234567.89"));
        assertEquals(List.of("123", "4", "km"), words("tiny_aya", "1234km"));
    }

    @Test
    void superBpeFollowsItsExpressions() {
        assertSame("superbpe", "\\p{N}+", "(?=(\\d{3})+(?!\\d))");
        assertEquals(List.of("all of it, ", "12", "345", " in one"), words("superbpe", "all of it, 12345 in one"));
    }

    @Test
    void afmoeFollowsItsExpressions() {
        assertSame(
                "afmoe",
                "\\p{N}{1,3}(?=(?:\\p{N}{3})*(?!\\p{N}))",
                "[一-\u9fff㐀-\u4dbf\uf900-\ufaff\u3040-ゟ゠-ヿ\uff65-\uff9f⼀-\u2fdfเ-\u0e7f\u0e80-\u0effក-\u17ffက-\u109f"
                        + "\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7afᄀ-ᇿ]+",
                SIGNED + "[\\r\\n]*" + TAIL);
    }

    @Test
    void sparkFollowsItsExpressions() {
        assertSame("spark2_5", "\\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", SIGNED + "|[\\r\\n]|\\s+(?!\\S)|\\s+", "\\p{N}");
    }

    @Test
    void bloomFollowsItsExpression() {
        String some = " ?[^(\\s|.,!?…。，、।۔،)]+";
        assertSame("bloom", some);
        assertSame("viking", some, "\\p{N}");
        assertEquals(List.of("a", " b", ",", " c", "…"), words("bloom", "a b, c…"));
    }

    @Test
    void chameleonFollowsItsExpressions() {
        String[] expressions = {
            "<sentinel:[0-9]+>",
            "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
            "([\\t\\n]|    |  )",
            "\\p{N}",
            "[\\p{P}!-/:-@\\[-`{-~]",
            GPT2
        };
        assertSame("chameleon", expressions);
        String text = "a <sentinel:12>IMGIMGABCZ x   y, 7";
        assertEquals(regex(text, expressions), words("chameleon", text));
    }

    @Test
    void deepSeekLlmCutsLinesLettersSignsAndNumbersApart() { // its class of signs, `:-~`, holds the ASCII letters too
        assertEquals(
                List.of("Hello", " w", "ö", "rld", "...", "\n", "\n", " ", "中文", "123", "  "),
                words("deepseek-llm", "Hello wörld...\n\n 中文123  "));
        assertEquals(List.of(" Ωμέγα", " ª", "x"), words("deepseek-llm", " Ωμέγα ªx"));
        assertEquals(List.of("\u1f7d\u2126\u212a"), words("deepseek-llm", "\u1f7d\u2126\u212a"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "llama-bpe|I'LL pay 12345 now!!|I,'LL, pay, ,123,45, now,!!",
                "qwen2|I'LL pay 123 now|I,'LL, pay, ,1,2,3, now",
                "gpt-2|I'LL pay 12345 now|I,',LL, pay, 12345, now",
                "tekken|helloWorld HTMLParser|hello,World, HTMLParser",
                "gpt-4o|it's HTTPServer|it's, HTTPServer",
                "smollm|a 12|a, ,1,2",
                "qwen35|e\u0301a 12|e\u0301a, ,1,2",
                "kimi-k2|我们 go, 好吗|我们, go,,, ,好吗",
                "modern-bert|I'LL pay 12345 now|I,',LL, pay, 12345, now",
            })
    void familiesDifferAsExpected(String name, String text, String expected) {
        assertEquals(expected, String.join(",", words(name, text)));
    }

    @Test
    void everyKnownNameHasRules() {
        assertTrue(PreTokenizers.known().size() > 80);
        for (String name : PreTokenizers.known()) {
            assertEquals("Hello 1\n", String.join("", words(name, "Hello 1\n")), name);
        }
    }

    @Test
    void unknownNameIsRefusedWithTheKnownOnes() {
        UnsupportedModelException e =
                assertThrows(UnsupportedModelException.class, () -> PreTokenizers.of("klingon", "a.gguf"));
        assertEquals(ErrorCode.MODEL_TOKENIZER, e.code());
        assertTrue(e.getMessage().contains("klingon") && e.getMessage().contains("a.gguf"), e.getMessage());
        assertTrue(e.getMessage().contains("qwen2"), e.getMessage());
    }
}
