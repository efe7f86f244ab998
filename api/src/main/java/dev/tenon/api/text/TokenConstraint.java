package dev.tenon.api.text;

import org.osgi.annotation.versioning.ConsumerType;

/// Says which tokens may come next in one sequence: where a reply has come in a grammar. Has a
/// state; calls come one after the other, between steps, and must be quick, since other sequences
/// wait. An exception ends the generation.
@ConsumerType
public interface TokenConstraint {
    /// Writes which tokens may come next. Tokens that end a generation are among them only where
    /// the text may end.
    ///
    /// @param words bit `id % 64` of word `id / 64` is set if the token may come next; overwritten
    ///     whole; at least `(vocabularySize + 63) / 64` words
    void mask(long[] words);

    /// Notes a token that became part of the sequence.
    ///
    /// @param token token id; one that the mask has
    /// @throws IllegalArgumentException if it may not come next
    void accept(int token);

    /// {@return whether the text may end here}
    boolean isComplete();

    /// {@return whether nothing may follow, so that the generation ends without a token that says
    ///     so}
    boolean isEnded();

    /// {@return tokens that come next in any case, so that they need no sampling; empty if there
    ///     are none. They are noted by [#accept(int)] like others; owned by the caller}
    default int[] forced() {
        return new int[0];
    }

    /// {@return a constraint in the same state, which goes on on its own}
    TokenConstraint copy();
}
