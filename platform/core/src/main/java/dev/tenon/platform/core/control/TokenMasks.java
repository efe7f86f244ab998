package dev.tenon.platform.core.control;

import java.util.Arrays;

/// Masks as [dev.tenon.api.text.TokenConstraint#mask] has them.
public final class TokenMasks {
    private TokenMasks() {}

    /// Allows all tokens of a vocabulary.
    ///
    /// @param words the mask; overwritten whole
    /// @param vocabularySize number of tokens
    public static void allowAll(long[] words, int vocabularySize) {
        int whole = vocabularySize / Long.SIZE;
        Arrays.fill(words, 0, whole, -1L);
        Arrays.fill(words, whole, words.length, 0);
        if (vocabularySize % Long.SIZE > 0) {
            words[whole] = (1L << vocabularySize) - 1;
        }
    }
}
