package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.InTime;
import dev.tenon.platform.core.text.words.PreTokenizer;
import dev.tenon.platform.core.text.words.PreTokenizers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Texts that a hostile user may send: the time to cut and to encode them grows with their length only.
///
/// Long: a smaller text would not tell work that grows with the square of the length.
@Tag("long")
class HugeTextTests {
    @Test
    void everyFamilyCutsHugeTextsInTimeAndLosesNothing() {
        int n = 1 << 17;
        for (PreTokenizers.Row row : PreTokenizers.rows()) {
            String name = row.names().getFirst();
            PreTokenizer splitter = row.splitter().get();
            for (String unit : new String[] {"a", " ", "7", "\n", "A", "あA", ".", "\u0301", "' "}) {
                for (String end : new String[] {"", "x", "1", "\n", "\u0001"}) {
                    String text = unit.repeat(n / unit.length()) + end;
                    int[] at = new int[1];
                    InTime.of(
                            10,
                            () -> {
                                splitter.split(text, 0, text.length(), (from, to) -> {
                                    assertTrue(from == at[0] && to > from);
                                    at[0] = to;
                                });
                                return at;
                            },
                            () -> name + " of " + unit);
                    assertEquals(text.length(), at[0], name);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa", "olmoe", "mistral-like", "gemma4", "rwkv7", "story-llama"})
    void hugeTextsOfOneKindAreEncodedInTime(String name) {
        Tokenizer tokenizer = TextTestData.tokenizer(name + ".gguf");
        int n = 1 << 20;
        for (String unit : new String[] {"a", " ", "7", "\n", ".", "é", "😀", "'", "<", "<|", "\u00a0", " \n", "e t"}) {
            String text = unit.repeat(n / unit.length());
            int[] ids = InTime.of(20, () -> tokenizer.encode(text, false, true), () -> "units of " + unit);
            assertEquals(text, tokenizer.decode(ids));
        }
    }

    @Test
    void hugeTextsForEncodersAreEncodedInTime() {
        Tokenizer wordPiece = TextTestData.tokenizer("bert.gguf");
        Tokenizer unigram = Tokenizers.create(UnigramTests.metadata(), TextTestData.PROVIDERS);
        int n = 1 << 20;
        for (String unit : new String[] {"a", " ", "7", "\n", ".", "é", "😀", "中", "\u0301", "\u2581", "e t"}) {
            String text = unit.repeat(n / unit.length());
            InTime.of(20, () -> wordPiece.encode(text, true, true), () -> "WordPiece, units of " + unit);
            InTime.of(20, () -> unigram.encode(text, true, true), () -> "unigram, units of " + unit);
        }
    }
}
