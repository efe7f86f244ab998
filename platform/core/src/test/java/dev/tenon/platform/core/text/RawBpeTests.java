package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Merges of characters.
class RawBpeTests {
    private static final String[] TEXTS = {"▁", "a", "b", "é", "\n", "▁a", "ab", "▁ab", "\n\n", "éa"};
    private static final int FIRST = 257; // after 256 bytes and the token of the start

    private static Tokenizer tokenizer() {
        return tokenizer("gemma4", "gemma4");
    }

    private static Tokenizer tokenizer(String model, String pre) {
        String[] tokens = Stream.of(
                        Stream.of("<bos>"),
                        IntStream.range(0, 256).mapToObj(b -> String.format("<0x%02X>", b)),
                        Stream.of(TEXTS))
                .flatMap(s -> s)
                .toArray(String[]::new);
        GgufMetadata metadata = TextTestData.vocabulary(model, tokens);
        metadata = TextTestData.with(metadata, "tokenizer.ggml.pre", GgufValue.of(pre));
        long[] types = LongStream.range(0, tokens.length)
                .map(id -> id == 0 ? 3 : id < FIRST ? 6 : 1)
                .toArray();
        metadata = TextTestData.with(metadata, "tokenizer.ggml.token_type", GgufValue.ofInt32Array(types));
        metadata = TextTestData.with(metadata, "tokenizer.ggml.bos_token_id", GgufValue.ofUint32(0));
        String[] merges = {"a b", "▁ a", "▁ ab", "\n \n", "é a"};
        return Tokenizers.create(
                TextTestData.with(
                        metadata, "tokenizer.ggml.merges", new GgufValue(GgufType.ARRAY, GgufType.STRING, merges)),
                TextTestData.PROVIDERS);
    }

    @Test
    void charactersAreMergedByRank() {
        Tokenizer tokenizer = tokenizer();
        assertArrayEquals(new int[] {0, FIRST + 6, FIRST + 7, FIRST + 5}, tokenizer.encode("ab ab a", true, true));
        assertArrayEquals(new int[] {FIRST + 9}, tokenizer.encode("éa", false, false));
        assertArrayEquals(new int[] {FIRST + 3, FIRST + 6}, tokenizer.encode("éab", false, false));
    }

    @Test
    void someVocabulariesOfBytePairsMergeCharacters() {
        int[] ids = {FIRST + 6, FIRST + 7, FIRST + 5};
        assertArrayEquals(ids, tokenizer("gpt2", "sarvam-moe").encode("ab ab a", true, true));
        ids = new int[] {0, FIRST + 6, FIRST + 7, FIRST + 5};
        assertArrayEquals(ids, tokenizer("gpt2", "granite-embed-multi-311m").encode("ab ab a", true, true));
    }

    @Test
    void lineEndsAreMergedAmongThemselvesOnly() {
        assertArrayEquals(
                new int[] {FIRST + 1, FIRST + 8, FIRST + 4, FIRST + 2},
                tokenizer().encode("a\n\n\nb", false, false));
    }

    @Test
    void charactersWithoutATokenBecomeBytes() {
        assertArrayEquals(new int[] {1 + 0xc3, 1 + 0xa8, FIRST + 1}, tokenizer().encode("èa", false, false));
    }

    @Test
    void decodingGivesAnyUnicodeTextBack() {
        Tokenizer tokenizer = tokenizer();
        for (int seed = 0; seed < 1000; seed++) {
            String text = TextTestData.randomText(new Random(seed), 60);
            assertEquals(text, tokenizer.decode(tokenizer.encode(text, true, false)), "seed " + seed);
        }
    }
}
