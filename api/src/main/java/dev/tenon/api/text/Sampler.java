package dev.tenon.api.text;

import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// Samples tokens for one sequence. Has state (recent tokens, random numbers); not safe for several
/// threads.
@ConsumerType
public interface Sampler {
    /// Samples the next token.
    ///
    /// @param logits one logit a token, `[vocabularySize]`; may be changed; borrowed, not kept
    /// @return token id
    int sample(float[] logits);

    /// Notes a token that became part of the sequence, from the prompt or from [#sample(float[])].
    ///
    /// @param token token id
    void accept(int token);

    /// {@return how this sampler would sample the next token, if a device can do the same; empty if it
    ///     needs more than the logits, such as earlier tokens}
    default Optional<TokenSampling> sampling() {
        return Optional.empty();
    }

    /// Tells the probabilities among which [#sample(float[])] drew the last token.
    ///
    /// @param probabilities one a token, `[vocabularySize]`; overwritten whole; 0 for tokens that it dropped
    /// @return whether it can tell; else nothing is written
    default boolean probabilities(float[] probabilities) {
        return false;
    }

    /// Notes a token that a device sampled as [#sampling()] describes, in place of [#sample(float[])]
    /// and [#accept(int)].
    ///
    /// @param token token id
    default void sampled(int token) {
        accept(token);
    }
}
