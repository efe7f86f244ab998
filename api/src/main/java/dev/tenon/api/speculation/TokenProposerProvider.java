package dev.tenon.api.speculation;

import dev.tenon.api.text.Tokenizer;
import org.osgi.annotation.versioning.ConsumerType;

/// Makes proposers that the setting `speculate` names. A service; safe for any thread.
@ConsumerType
public interface TokenProposerProvider {
    /// {@return the name by which it is chosen: lower-case letters, digits and `-`; not `off`,
    ///     `ngram`, `draft` or `head`, which the engine has itself}
    String id();

    /// Makes the proposer of one session.
    ///
    /// @param argument what the setting says after the name and `=`, in a form of the provider's
    ///     own; empty if it says nothing
    /// @param tokenizer the model's
    /// @return a new proposer
    /// @throws IllegalArgumentException if the argument is not as expected; the message says what
    ///     is, and is for whoever set it
    TokenProposer create(String argument, Tokenizer tokenizer);
}
