package dev.tenon.api.text;

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
}
