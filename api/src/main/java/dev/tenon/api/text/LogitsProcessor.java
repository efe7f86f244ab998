package dev.tenon.api.text;

import org.osgi.annotation.versioning.ConsumerType;

/// Changes the logits of a position before a token is sampled from them: a mask, a bias, a penalty of one's own.
///
/// Called between steps, one call at a time for each generation; it must be quick, since other sequences wait. An
/// exception ends its generation.
@ConsumerType
@FunctionalInterface
public interface LogitsProcessor {
    /// Changes logits in place.
    ///
    /// @param history tokens of the sequence, prompt and reply; borrowed, valid during the call
    /// @param logits one logit a token, `[vocabularySize]`; negative infinity masks a token; one that is
    ///     masked stays so, and at least one must stay
    void process(TokenHistory history, float[] logits);

    /// The tokens of a sequence.
    @ConsumerType
    interface TokenHistory {
        /// {@return number of tokens}
        int length();

        /// {@return a token id}
        ///
        /// @param index 0 to [#length()] - 1
        int token(int index);
    }
}
