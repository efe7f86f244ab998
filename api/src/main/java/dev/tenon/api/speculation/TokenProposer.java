package dev.tenon.api.speculation;

import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import org.osgi.annotation.versioning.ConsumerType;

/// Proposes tokens that may follow those of one session. A step checks several at once, so that a
/// text comes in fewer steps; whatever is proposed, it stays what it would be without. Used by one
/// thread at a time.
@ConsumerType
public interface TokenProposer extends AutoCloseable {
    /// Proposes tokens. Called before a step where proposals seem to pay; between two calls the
    /// session may have got several tokens, or lost its last ones.
    ///
    /// @param tokens the session's tokens, lent for the call
    /// @param most most tokens to propose, at least 1
    /// @return ids of the model's vocabulary, `most` at most, in their order; empty if there is
    ///     nothing to propose. A proposer that throws, or gives anything else, is not asked again in
    ///     this session
    int[] propose(TokenHistory tokens, int most);

    /// {@return most tokens that are worth asking for, at least 1; always the same}
    int most();

    /// {@return nanoseconds that a proposed token takes; proposals that cost more than they save are
    ///     not asked for}
    default double nanosPerToken() {
        return 0;
    }

    /// Called once when the session is closed.
    @Override
    default void close() {}
}
