package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LongestMatchTokenizerTests {
    private static final String[] TOKENS = {
        "<s>", "a", "ab", "abcd", "\\n", "\\\\", "\\xce", "\\xb1", "\\n\\n", " b", "b", "c"
    };

    private static final Tokenizer TOKENIZER = new LongestMatchProvider()
            .create(GgufMetadata.of(
                    "tiny",
                    Map.of(
                            "tokenizer.ggml.model", GgufValue.of("rwkv"),
                            "tokenizer.ggml.tokens", GgufValue.of(TOKENS),
                            "tokenizer.ggml.token_type",
                                    GgufValue.ofInt32Array(new long[] {3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}))));

    private static int[] ids(String text) {
        return TOKENIZER.encode(text, false, false);
    }

    @Test
    void theLongestTokenIsTaken() {
        assertArrayEquals(new int[] {3, 2, 11, 1}, ids("abcdabca"));
        assertArrayEquals(new int[] {8, 4, 9}, ids("\n\n\n b"));
    }

    @Test
    void escapesAreBytes() {
        assertArrayEquals(new int[] {5, 6, 7}, ids("\\\u03b1"));
        assertArrayEquals("\n\n".getBytes(StandardCharsets.UTF_8), TOKENIZER.bytes(8));
        assertArrayEquals(new byte[] {(byte) 0xce}, TOKENIZER.bytes(6));
        assertArrayEquals(new byte[0], TOKENIZER.bytes(0));
        assertEquals("\\xce", TOKENIZER.piece(6));
    }

    @Test
    void whatNoTokenBeginsWithIsLeftOut() {
        assertArrayEquals(new int[] {1, 10}, ids("azb"));
    }
}
