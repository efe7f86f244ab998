package dev.tenon.platform.core.text.words;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A pre-tokenizer by a regular expression: matches are words, and so is what lies between them.
///
/// Only for expressions that `java.util.regex` runs without recursion and in linear time:
/// repetitions of single characters, alternatives that fail at once. `\p{..}` are Unicode general
/// categories; `\s` and `\S` are replaced by the Unicode property White_Space, since Java's are
/// narrower.
final class RegexSplitter implements PreTokenizer {
    private static final String SPACES =
            "\\t-\\r \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}" + "\\x{202f}\\x{205f}\\x{3000}";

    private static final String KANJI_KANA = "[\\x{4e00}-\\x{9fa5}\\x{3040}-\\x{309f}\\x{30a0}-\\x{30ff}]+";

    /// A sign before ASCII letters, or letters after anything else.
    private static final String SIGNED_WORD =
            "[!-/:-@\\[-`{-~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+";

    private static final String SYMBOLS = "| ?[^" + SPACES + "\\p{L}\\p{N}]+";
    private static final String SPACE_WORDS = "|\\s+(?!\\S)|\\s+";
    private static final String LINES_OR_SPACE = "|\\s*[\\r\\n]+" + SPACE_WORDS;

    private static final String CJK = "[\\x{4e00}-\\x{9fa5}\\x{800}-\\x{4e00}\\x{ac00}-\\x{d7ff}]+";

    /// The letters with case that DeepSeek LLM lists one by one.
    private static final String CASED_LETTERS =
            "A-Za-z\\x{b5}\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{1ba}\\x{1bc}-\\x{1bf}"
                    + "\\x{1c4}-\\x{293}\\x{295}-\\x{2af}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37b}-\\x{37d}"
                    + "\\x{37f}\\x{386}\\x{388}-\\x{38a}\\x{38c}\\x{38e}-\\x{3a1}\\x{3a3}-\\x{3f5}"
                    + "\\x{3f7}-\\x{481}\\x{48a}-\\x{52f}\\x{531}-\\x{556}\\x{10a0}-\\x{10c5}"
                    + "\\x{13a0}-\\x{13f5}\\x{13f8}-\\x{13fd}\\x{1c90}-\\x{1cba}\\x{1cbd}-\\x{1cbf}"
                    + "\\x{1d00}-\\x{1d2b}\\x{1d6b}-\\x{1d77}\\x{1d79}-\\x{1d9a}\\x{1e00}-\\x{1f15}"
                    + "\\x{1f18}-\\x{1f1d}\\x{1f20}-\\x{1f45}\\x{1f48}-\\x{1f4d}\\x{1f50}-\\x{1f57}\\x{1f59}"
                    + "\\x{1f5b}\\x{1f5d}\\x{1f5f}-\\x{1f7d}\\x{1f80}-\\x{1fb4}\\x{1fb6}-\\x{1fbc}\\x{1fbe}"
                    + "\\x{1fc2}-\\x{1fc4}\\x{1fc6}-\\x{1fcc}\\x{1fd0}-\\x{1fd3}\\x{1fd6}-\\x{1fdb}"
                    + "\\x{1fe0}-\\x{1fec}\\x{1ff2}-\\x{1ff4}\\x{1ff6}-\\x{1ffc}\\x{2102}\\x{2107}"
                    + "\\x{210a}-\\x{2113}\\x{2115}\\x{2119}-\\x{211d}\\x{2124}\\x{2126}\\x{2128}"
                    + "\\x{212a}-\\x{212d}\\x{212f}-\\x{2134}\\x{2139}\\x{213c}-\\x{213f}\\x{2145}-\\x{2149}"
                    + "\\x{214e}\\x{2183}\\x{2184}\\x{2c00}-\\x{2c7b}\\x{2c7e}-\\x{2ce4}\\x{2ceb}-\\x{2cee}"
                    + "\\x{2cf2}\\x{2cf3}\\x{a640}-\\x{a66d}\\x{a680}-\\x{a69b}\\x{a722}-\\x{a76f}"
                    + "\\x{a771}-\\x{a787}\\x{a78b}-\\x{a78e}\\x{ab70}-\\x{abbf}\\x{fb00}-\\x{fb06}"
                    + "\\x{fb13}-\\x{fb17}\\x{ff21}-\\x{ff3a}\\x{ff41}-\\x{ff5a}\\x{10400}-\\x{1044f}"
                    + "\\x{104b0}-\\x{104d3}\\x{104d8}-\\x{104fb}\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}"
                    + "\\x{118a0}-\\x{118df}\\x{1e900}-\\x{1e943}";

    private final Pattern pattern;

    private RegexSplitter(String regex) {
        pattern = Pattern.compile(regex.replace("\\s", "[" + SPACES + "]").replace("\\S", "[^" + SPACES + "]"));
    }

    /// {@return the rules of DeepSeek LLM}
    static PreTokenizer deepSeekLlm() {
        return new RegexSplitter("[\\r\\n]")
                .then(new RegexSplitter("\\s?[" + CASED_LETTERS + "]+"))
                .then(new RegexSplitter(
                        "\\s?[!-/:-~\\x{ff01}-\\x{ff0f}\\x{ff1a}-\\x{ff5e}\\x{2018}-\\x{201f}\\x{3000}-\\x{3002}]+"))
                .then(new RegexSplitter("(?<!\\s)\\s++\\z")) // the look-behind keeps it linear
                .then(new RegexSplitter(CJK))
                .then(new RegexSplitter("\\p{N}+"));
    }

    /// {@return the rules of DeepSeek Coder}
    static PreTokenizer deepSeekCoder() {
        return new RegexSplitter("[\\r\\n]")
                .then(new RegexSplitter("\\s?\\p{L}+"))
                .then(new RegexSplitter("\\s?\\p{P}+"))
                .then(new RegexSplitter(CJK))
                .then(new WordScanner.Numbers(1));
    }

    /// {@return the rules of DeepSeek V3 and R1}
    static PreTokenizer deepSeekV3() {
        return new WordScanner.Numbers(3)
                .then(new RegexSplitter(KANJI_KANA))
                .then(new RegexSplitter(SIGNED_WORD + "[\\r\\n]*" + LINES_OR_SPACE));
    }

    /// {@return the rules of Spark 2.5: lines apart, and every number alone}
    static PreTokenizer spark() {
        return new WordScanner.Numbers(3)
                .then(new RegexSplitter(KANJI_KANA))
                .then(new RegexSplitter(SIGNED_WORD + "|[\\r\\n]" + SPACE_WORDS))
                .then(new WordScanner.Numbers(1));
    }

    /// {@return the rules of AFMoE: scripts without blanks apart}
    static PreTokenizer afmoe() {
        return new DigitGroups(DigitGroups.Rule.NUMBERS)
                .then(new RegexSplitter("[\\x{4e00}-\\x{9fff}\\x{3400}-\\x{4dbf}\\x{f900}-\\x{faff}\\x{3040}-\\x{30ff}"
                        + "\\x{ff65}-\\x{ff9f}\\x{2f00}-\\x{2fdf}\\x{e40}-\\x{e7f}\\x{e80}-\\x{eff}\\x{1780}-\\x{17ff}"
                        + "\\x{1000}-\\x{109f}\\x{aa60}-\\x{aa7f}\\x{a9e0}-\\x{a9ff}\\x{ac00}-\\x{d7af}"
                        + "\\x{1100}-\\x{11ff}]+"))
                .then(new RegexSplitter(SIGNED_WORD + "[\\r\\n]*" + LINES_OR_SPACE));
    }

    /// {@return the rules of Youtu: scripts and signs of East Asia apart, then those of GPT-4o with single numbers}
    static PreTokenizer youtu() {
        return new RegexSplitter("[\\x{ac00}-\\x{d7a3}\\x{3131}-\\x{318e}]+"
                        + "|[\\x{ff01}\\x{2026}\\x{201c}\\x{201d}\\x{2018}\\x{2019}\\x{2014}\\x{ff1a}\\x{ff1b}\\x{ff0c}"
                        + "\\x{3001}-\\x{303f}\\x{fe30}-\\x{fe4f}]+|[\\x{3105}-\\x{312f}]+|" + KANJI_KANA)
                .then(new WordScanner.O200k(1, true, false));
    }

    /// {@return the rules of EXAONE MoE: letters of several words, with single blanks between, are one}
    static PreTokenizer exaoneMoe() {
        return new RegexSplitter("(?i:'s|'t|'re|'ve|'m|'ll|'d)"
                + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}(?:[\\p{L}\\p{M}]| (?=\\p{L}))*+|\\p{N}" + SYMBOLS
                + "[\\r\\n/]?|\\s*[\\r\\n]" + SPACE_WORDS);
    }

    /// {@return the rules of Qwen 2 without contractions}
    static PreTokenizer withoutContractions() {
        return new RegexSplitter("[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" + SYMBOLS + "[\\r\\n]*" + LINES_OR_SPACE);
    }

    /// {@return the rules of BLOOM: all but some punctuation}
    static PreTokenizer bloom() {
        return new RegexSplitter(
                " ?[^()|.,!?\\x{2026}\\x{3002}\\x{ff0c}\\x{3001}\\x{964}\\x{6d4}\\x{60c}" + SPACES + "]+");
    }

    /// {@return the rules of Chameleon, whose images are texts too}
    static PreTokenizer chameleon() {
        return new RegexSplitter("<sentinel:[0-9]+>")
                .then(new RegexSplitter("IMGIMG[A-I]{1,4}Z"))
                .then(new RegexSplitter("[\\t\\n]|    |  "))
                .then(new WordScanner.Numbers(1))
                .then(new RegexSplitter("[\\p{P}!-/:-@\\[-`{-~]"))
                .then(new WordScanner.Gpt2());
    }

    /// {@return lines and runs of line ends}
    static PreTokenizer lines() {
        return new RegexSplitter("\\n+");
    }

    /// {@return the rules of Falcon}
    static PreTokenizer falcon() {
        return new RegexSplitter("[\\p{P}$+<=>^~|`]+")
                .then(new WordScanner.Gpt2())
                .then(new RegexSplitter("[0-9][0-9][0-9]"));
    }

    /// {@return the rules for files that name `default` or nothing}
    static PreTokenizer byDefault() {
        return new RegexSplitter("[\\p{P}$+<=>^~|]+")
                .then(new WordScanner.Gpt2())
                .then(new RegexSplitter("\\p{N}+"))
                .then(new RegexSplitter("[0-9][0-9][0-9]"));
    }

    @Override
    public void split(String text, int from, int to, Words words) {
        Matcher matcher = pattern.matcher(text).region(from, to);
        int at = from;
        while (matcher.find()) {
            if (matcher.start() > at) {
                words.word(at, matcher.start());
            }
            words.word(matcher.start(), matcher.end());
            at = matcher.end();
        }
        if (at < to) {
            words.word(at, to);
        }
    }
}
