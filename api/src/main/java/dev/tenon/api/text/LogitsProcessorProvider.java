package dev.tenon.api.text;

import org.osgi.annotation.versioning.ConsumerType;

/// Makes logits processors that requests choose by name: from the command line, over HTTP, or from programs.
/// A service; safe for any thread.
@ConsumerType
public interface LogitsProcessorProvider {
    /// {@return the name by which requests choose it: lower-case letters, digits and `-`}
    String id();

    /// Makes the processor of one generation.
    ///
    /// @param argument what the request says after the name, in a form of the provider's own;
    ///     empty if it says nothing
    /// @param tokenizer the model's
    /// @return a new processor
    /// @throws IllegalArgumentException if the argument is not as expected; the message says what
    ///     is, and is for whoever made the request
    LogitsProcessor create(String argument, Tokenizer tokenizer);
}
