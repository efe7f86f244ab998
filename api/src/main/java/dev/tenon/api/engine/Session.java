package dev.tenon.api.engine;

import org.osgi.annotation.versioning.ProviderType;

/// One sequence of tokens with its KV cache. It grows with each call, so that a chat only sends what is
/// new.
///
/// One call at a time; [#cancel()] and [#close()] may come from any thread. Whoever opened it closes it.
@ProviderType
public interface Session extends AutoCloseable {
    /// Appends a prompt and generates until a stop. Blocks; the listener is called on the calling thread.
    ///
    /// The tokens of prompt and reply stay in the session. A token that ended the generation is part of the
    /// session's
    /// text but has not been run yet; the next call runs it.
    ///
    /// @param request prompt, sampling, limits
    /// @param listener hears text as it comes
    /// @return counts, times and why it ended
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-001`) if the prompt does not fit the
    ///     context;
    /// the
    ///     session
    ///     is unchanged
    /// @throws dev.tenon.api.error.BackendException if the backend failed or was withdrawn
    Usage generate(GenerationRequest request, GenerationListener listener);

    /// Appends tokens and gives the logits behind some or all of them, without sampling.
    ///
    /// @param tokens token ids
    /// @param which for which tokens logits are wanted
    /// @param consumer called on the calling thread, in the order of the tokens
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-001`) if the tokens do not fit the
    ///     context; the
    ///     session is
    ///     unchanged
    void evaluate(int[] tokens, LogitRows which, LogitsConsumer consumer);

    /// For which tokens logits are wanted.
    enum LogitRows {
        /// None.
        NONE,
        /// Only behind the last token.
        LAST,
        /// Only behind the last token, and nobody reads them: they are computed and stay where they are, and
        /// the consumer is not called. For measuring what the computation takes.
        LAST_UNREAD,
        /// Behind each token.
        ALL
    }

    /// Receives logits.
    @FunctionalInterface
    interface LogitsConsumer {
        /// Takes one row.
        ///
        /// @param index index of the token in the call
        /// @param logits `[nVocab]`; reused for the next row
        void accept(int index, float[] logits);
    }

    /// {@return number of tokens in the session}
    int length();

    /// Forgets all tokens from a position on; their pages are given back.
    ///
    /// @param length tokens to keep, 0 to [#length()]
    void truncate(int length);

    /// Ends the running generation after its current step, with [FinishReason#CANCELLED]. Nothing happens
    /// when none
    /// runs.
    void cancel();

    /// Gives back the session's pages; cancels a running generation first. Calling it twice does nothing.
    @Override
    void close();
}
