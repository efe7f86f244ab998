package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The longest token that fits.
class LongestMatchTests {
    private static final String[] TEXTS = {"ab", "abcd", "\\n\\n", "\\xc3\\xa9a", "\\\\n", "it\\'s", "  ", "    "};
    private static final int FIRST = 257; // after the token that ends texts and 256 bytes

    private static GgufMetadata metadata(String... more) {
        String[] tokens = Stream.of(
                        Stream.of("<s>"),
                        IntStream.range(0, 256).mapToObj(b -> String.format("\\x%02x", b)),
                        Stream.of(TEXTS),
                        Stream.of(more))
                .flatMap(s -> s)
                .toArray(String[]::new);
        long[] types =
                LongStream.range(0, tokens.length).map(id -> id == 0 ? 3 : 1).toArray();
        GgufMetadata metadata = TextTestData.vocabulary("rwkv", tokens);
        metadata = TextTestData.with(metadata, "tokenizer.ggml.eos_token_id", GgufValue.ofUint32(0));
        return TextTestData.with(metadata, "tokenizer.ggml.token_type", GgufValue.ofInt32Array(types));
    }

    private static int[] ids(String text) {
        return Tokenizers.create(metadata(), TextTestData.PROVIDERS).encode(text, true, true);
    }

    @Test
    void theLongestTokenIsTaken() {
        assertArrayEquals(new int[] {FIRST + 1}, ids("abcd"));
        assertArrayEquals(new int[] {FIRST, 1 + 'c', 1 + 'e'}, ids("abce"));
        assertArrayEquals(new int[] {FIRST + 7, FIRST + 6, 1 + ' '}, ids("       "));
        assertArrayEquals(new int[] {1 + 'a', 0, 1 + 'b'}, ids("a<s>b"));
    }

    @Test
    void textsOfTokensAreUnescaped() {
        assertArrayEquals(new int[] {FIRST + 2, 1 + '\n'}, ids("\n\n\n"));
        assertArrayEquals(new int[] {FIRST + 3}, ids("\u00e9a"));
        assertArrayEquals(new int[] {FIRST + 4, FIRST + 5}, ids("\\nit's"));
    }

    @Test
    void idsAreThoseOfASearchAmongAllTokens() {
        Tokenizer tokenizer = Tokenizers.create(metadata(), TextTestData.PROVIDERS);
        for (int seed = 0; seed < 2000; seed++) {
            String text = TextTestData.randomText(new Random(seed), 30) + "abcdab it's";
            int[] ids = tokenizer.encode(text, false, false);
            assertEquals(text, tokenizer.decode(ids), "seed " + seed);
            String bytes = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
            List<Integer> expected = new ArrayList<>();
            for (int at = 0; at < bytes.length(); ) {
                int best = -1;
                for (int id = 1; id < tokenizer.vocabularySize(); id++) {
                    String token = new String(tokenizer.bytes(id), StandardCharsets.ISO_8859_1);
                    boolean longer = best < 0 || token.length() > tokenizer.bytes(best).length;
                    best = bytes.startsWith(token, at) && longer ? id : best;
                }
                expected.add(best);
                at += tokenizer.bytes(best).length;
            }
            assertEquals(expected, IntStream.of(ids).boxed().toList(), "seed " + seed);
        }
    }

    @Test
    void brokenEscapesAreRefused() {
        ModelFormatException e = assertThrows(
                ModelFormatException.class, () -> Tokenizers.create(metadata("a\\xg0"), TextTestData.PROVIDERS));
        assertEquals(ErrorCode.MODEL_TOKENIZER, e.code());
        assertTrue(e.getMessage().contains("265") && e.getMessage().contains("\\xg0"), e.getMessage());
    }

    @Test
    void bytesWithoutATokenAreRefused() {
        GgufMetadata few = TextTestData.vocabulary("rwkv", "a", "b");
        Tokenizer tokenizer = Tokenizers.create(few, TextTestData.PROVIDERS);
        assertArrayEquals(new int[] {0, 1}, tokenizer.encode("ab", false, false));
        assertThrows(ModelFormatException.class, () -> tokenizer.encode("abc", false, false));
    }
}
