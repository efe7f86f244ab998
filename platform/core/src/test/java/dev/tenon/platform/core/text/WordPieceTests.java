package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Words cut by the longest tokens.
class WordPieceTests {
    private static final String[] TOKENS = {
        "[UNK]", "[CLS]", "[SEP]", "▁un", "aff", "able", "▁cafe", "▁Café", "▁,", "▁中", "▁文", "▁run", "ning", "▁a", "ff"
    };

    private static GgufMetadata metadata() {
        GgufMetadata metadata = TextTestData.vocabulary("bert", TOKENS);
        metadata = TextTestData.with(metadata, "tokenizer.ggml.token_type", GgufValue.ofInt32Array(new long[] {
            3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        }));
        metadata = TextTestData.with(metadata, "tokenizer.ggml.unknown_token_id", GgufValue.ofUint32(0));
        metadata = TextTestData.with(metadata, "tokenizer.ggml.cls_token_id", GgufValue.ofUint32(1));
        return TextTestData.with(metadata, "tokenizer.ggml.seperator_token_id", GgufValue.ofUint32(2));
    }

    private static Tokenizer tokenizer(GgufMetadata metadata) {
        return Tokenizers.create(metadata, TextTestData.PROVIDERS);
    }

    @ParameterizedTest
    @CsvSource({
        "'unaffable', '3 4 5'",
        "'UNAFFABLE running', '3 4 5 11 12'",
        "'café, Café', '6 8 6'",
        "'中文run', '9 10 11'",
        "'run中ning', '11 9 0'",
        "'unaffx run', '0 11'",
        "'  run\t\n run ', '11 11'",
        "'ru\u0000n', '11'",
        "'a▁a a', '0 13'",
        "'', ''",
    })
    void wordsAreCutByTheLongestTokens(String text, String ids) {
        int[] found = tokenizer(metadata()).encode(text, false, false);
        assertEquals(
                ids,
                String.join(
                        " ",
                        java.util.Arrays.stream(found)
                                .mapToObj(Integer::toString)
                                .toList()));
    }

    @Test
    void caseAndAccentsStayWhereTheFileSaysSo() {
        GgufMetadata cased = TextTestData.with(metadata(), "tokenizer.ggml.normalizer.lowercase", GgufValue.of(false));
        assertArrayEquals(new int[] {7, 0}, tokenizer(cased).encode("Café CAFE", false, false));
        GgufMetadata stripped = TextTestData.with(cased, "tokenizer.ggml.normalizer.strip_accents", GgufValue.of(true));
        assertArrayEquals(new int[] {0, 6}, tokenizer(stripped).encode("Café cafe", false, false));
    }

    @Test
    void aTextStandsBetweenItsSpecialTokens() {
        Tokenizer tokenizer = tokenizer(metadata());
        assertArrayEquals(new int[] {1, 11, 2}, tokenizer.encode("run", true, true));
        assertArrayEquals(new int[] {1, 11, 2, 11, 2}, tokenizer.encode("run[SEP]run", true, true));
        assertEquals("run running", tokenizer.decode(tokenizer.encode("RUN running", true, true)));
    }

    @Test
    void aVocabularyWithoutSpecialTokensIsRefused() {
        for (String key : new String[] {"unknown_token_id", "cls_token_id", "seperator_token_id"}) {
            GgufMetadata without = TextTestData.with(metadata(), "tokenizer.ggml." + key, null);
            without = TextTestData.with(without, "tokenizer.ggml.token_type", GgufValue.ofInt32Array(new long[] {
                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
            }));
            GgufMetadata broken = without;
            TenonException e = assertThrows(TenonException.class, () -> tokenizer(broken));
            assertEquals(ErrorCode.MODEL_KEY_MISSING, e.code());
        }
    }

    @Test
    void anyTextIsEncoded() {
        Tokenizer tokenizer = tokenizer(metadata());
        for (int seed = 0; seed < 2000; seed++) {
            for (int id : tokenizer.encode(TextTestData.randomText(new Random(seed), 60), true, false)) {
                assertEquals(tokenizer.piece(id), TOKENS[id], "seed " + seed);
            }
        }
    }
}
