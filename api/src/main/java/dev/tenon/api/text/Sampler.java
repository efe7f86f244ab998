package dev.tenon.api.text;

import dev.tenon.api.device.TokenChoice;
import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// Chooses tokens for one sequence. Has state (recent tokens, random numbers); not safe for several
/// threads.
@ConsumerType
public interface Sampler {
    /// Chooses the next token.
    ///
    /// @param logits one logit a token, `[vocabSize]`; may be changed; borrowed, not kept
    /// @return token id
    int sample(float[] logits);

    /// Notes a token that became part of the sequence, from the prompt or from [#sample(float[])].
    ///
    /// @param token token id
    void accept(int token);

    /// {@return how this sampler would choose the next token, if a device can do the same; empty if more
    ///     goes into the choice, such as earlier tokens}
    default Optional<TokenChoice> choice() {
        return Optional.empty();
    }

    /// Notes a token that a device chose as [#choice()] said, in place of [#sample(float[])] and
    /// [#accept(int)].
    ///
    /// @param token token id
    default void chosen(int token) {
        accept(token);
    }
}
