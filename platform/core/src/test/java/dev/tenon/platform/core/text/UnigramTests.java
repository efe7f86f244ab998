package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Texts cut into the tokens with the largest sum of scores.
class UnigramTests {
    private static final String[] TOKENS = {"<s>", "</s>", "<unk>", "▁", "a", "b", "c", "ab", "bc", "▁abc", "▁a", "e"};
    private static final float[] SCORES = {0, 0, 0, -2, -3, -3, -3, -4, -3.5f, -9, -4, -3};

    static GgufMetadata metadata() {
        GgufMetadata metadata = TextTestData.vocabulary("t5", TOKENS);
        metadata = TextTestData.with(
                metadata, "tokenizer.ggml.scores", new GgufValue(GgufType.ARRAY, GgufType.FLOAT32, SCORES));
        metadata = TextTestData.with(metadata, "tokenizer.ggml.token_type", GgufValue.ofInt32Array(new long[] {
            3, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1
        }));
        return TextTestData.with(metadata, "tokenizer.ggml.eos_token_id", GgufValue.ofUint32(1));
    }

    private static Tokenizer tokenizer(GgufMetadata metadata) {
        return Tokenizers.create(metadata, TextTestData.PROVIDERS);
    }

    private static String ids(GgufMetadata metadata, String text) {
        return Arrays.stream(tokenizer(metadata).encode(text, false, false))
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(" "));
    }

    /// `▁a bc` scores -7.5, better than `▁abc` and `▁ ab c`.
    @ParameterizedTest
    @CsvSource({
        "'abc', '10 8'",
        "'  abc   ab ', '10 8 3 7'",
        "'xyz a', '3 2 10'",
        "'axa', '10 2 4'",
        "'', ''",
        "'   ', ''",
        "'😀b', '3 2 5'",
    })
    void theLargestSumOfScoresWins(String text, String ids) {
        assertEquals(ids, ids(metadata(), text));
    }

    @Test
    void blanksStayAsTheFileSays() {
        GgufMetadata blanks =
                TextTestData.with(metadata(), "tokenizer.ggml.remove_extra_whitespaces", GgufValue.of(false));
        assertEquals("3 3 10 3", ids(blanks, "  a "));
        GgufMetadata bare = TextTestData.with(metadata(), "tokenizer.ggml.add_space_prefix", GgufValue.of(false));
        assertEquals("4 3 5", ids(bare, " a b"));
    }

    @Test
    void theEndIsAddedAndDecodingGivesTheTextBack() {
        Tokenizer tokenizer = tokenizer(metadata());
        assertArrayEquals(new int[] {10, 8, 1}, tokenizer.encode("abc", true, true));
        assertEquals("abc ab", tokenizer.decode(tokenizer.encode("abc ab", true, true)));
    }

    /// Every cut of short texts is tried.
    @Test
    void noOtherCutScoresMore() {
        Tokenizer tokenizer = tokenizer(metadata());
        Random random = new Random(1);
        for (int round = 0; round < 300; round++) {
            String text = random.ints(1 + random.nextInt(9), 0, 4)
                    .mapToObj(i -> String.valueOf("abc ".charAt(i)))
                    .collect(Collectors.joining());
            String written = ("▁" + text.strip().replaceAll(" +", "▁")).replaceFirst("^▁$", "");
            double found = 0;
            for (int id : tokenizer.encode(text, false, false)) {
                found += SCORES[id];
            }
            assertEquals(best(written), found, 1e-6, text);
        }
    }

    private static double best(String text) {
        double best = text.isEmpty() ? 0 : Double.NEGATIVE_INFINITY;
        for (int id = 3; id < TOKENS.length; id++) {
            if (text.startsWith(TOKENS[id])) {
                best = Math.max(best, SCORES[id] + best(text.substring(TOKENS[id].length())));
            }
        }
        return best;
    }

    /// A map with a tabulator to a blank and `é` to `e`, in the form of the file.
    private static long[] map() {
        int[] units = new int[0x400];
        units[0] = 0x100 << 10;
        units[0x100 ^ 0x09] = 0x09 | 1 << 8 | (0x109 ^ 0x200) << 10;
        units[0x200] = 0;
        units[0x100 ^ 0xc3] = 0xc3 | (0x1c3 ^ 0x300) << 10;
        units[0x300 ^ 0xa9] = 0xa9 | 1 << 8 | (0x3a9 ^ 0x201) << 10;
        units[0x201] = 2;
        byte[] replacements = " \0e\0".getBytes(StandardCharsets.UTF_8);
        long[] bytes = new long[4 + 4 * units.length + replacements.length];
        put(bytes, 0, 4 * units.length);
        for (int i = 0; i < units.length; i++) {
            put(bytes, 4 + 4 * i, units[i]);
        }
        for (int i = 0; i < replacements.length; i++) {
            bytes[4 + 4 * units.length + i] = replacements[i];
        }
        return bytes;
    }

    private static void put(long[] bytes, int at, int value) {
        for (int i = 0; i < 4; i++) {
            bytes[at + i] = value >>> 8 * i & 0xff;
        }
    }

    private static GgufMetadata mapped(long[] map) {
        return TextTestData.with(
                metadata(), "tokenizer.ggml.precompiled_charsmap", new GgufValue(GgufType.ARRAY, GgufType.UINT8, map));
    }

    @Test
    void theMapOfTheFileIsApplied() {
        assertEquals("10 3 11 8", ids(mapped(map()), "a\t\tébc"));
        assertEquals("3 2", ids(mapped(map()), "ê😀"), "what the map does not have stays");
    }

    @Test
    void aMapThatIsCutIsRefused() {
        long[] map = map();
        for (int length : new int[] {1, 3, 4, 100, map.length - 5}) {
            TenonException e = assertThrows(
                    TenonException.class,
                    () -> tokenizer(mapped(Arrays.copyOf(map, length))).encode("a\té", false, false));
            assertEquals(ErrorCode.MODEL_TOKENIZER, e.code(), "length " + length);
            assertTrue(e.getMessage().contains("precompiled_charsmap"), e.getMessage());
        }
    }

    @Test
    void missingOrTooFewScoresAreRefused() {
        GgufMetadata none = TextTestData.with(metadata(), "tokenizer.ggml.scores", null);
        assertEquals(
                ErrorCode.MODEL_KEY_MISSING,
                assertThrows(TenonException.class, () -> tokenizer(none)).code());
        GgufMetadata few = TextTestData.with(
                metadata(), "tokenizer.ggml.scores", new GgufValue(GgufType.ARRAY, GgufType.FLOAT32, new float[3]));
        assertEquals(
                ErrorCode.MODEL_TOKENIZER,
                assertThrows(TenonException.class, () -> tokenizer(few)).code());
    }
}
