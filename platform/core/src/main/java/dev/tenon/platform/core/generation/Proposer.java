package dev.tenon.platform.core.generation;

import dev.tenon.platform.core.steps.TokenSequence;

/// Proposes tokens that may follow those of a sequence. Any proposals leave the text what it would be without: they
/// only decide how many of its tokens come in a step. Used by the thread that drives the sequence's loop.
public interface Proposer extends AutoCloseable {
    /// {@return the tokens, none if there is nothing to propose}
    ///
    /// @param sequence the tokens so far
    /// @param most most tokens
    int[] propose(TokenSequence sequence, int most);

    /// {@return most tokens that are worth asking for}
    int most();

    /// {@return nanoseconds that a proposed token takes}
    default double nanosPerToken() {
        return 0;
    }

    /// Releases what it has.
    @Override
    default void close() {}
}
