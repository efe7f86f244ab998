package dev.tenon.api.text;

import org.osgi.annotation.versioning.ConsumerType;

/// Makes samplers. A service; safe for any thread.
///
/// One without a name samples for all requests that name none. The platform has one, of rank 0; a bundle puts
/// another in its place by a higher service ranking: the annotation `ServiceRanking` of OSGi, which counts
/// without a framework, too. One with a name samples for the requests that choose it by that name: from the
/// command line, over HTTP, or from programs.
@ConsumerType
public interface SamplerProvider {
    /// {@return the name by which requests choose it: lower-case letters, digits and `-`; empty, the default,
    ///     for one without a name}
    default String id() {
        return "";
    }

    /// Makes the sampler of one sequence.
    ///
    /// @param params how to sample
    /// @param vocabularySize number of tokens
    /// @return a new sampler
    Sampler create(SamplingParams params, int vocabularySize);

    /// Makes the sampler of one sequence whose request names this provider. Without an argument it is that of
    /// [#create(SamplingParams, int)], and others are refused, unless a provider says otherwise.
    ///
    /// @param params how to sample
    /// @param vocabularySize number of tokens
    /// @param argument what the request says after the name, in a form of the provider's own;
    ///     empty if it says nothing
    /// @param tokenizer the model's
    /// @return a new sampler
    /// @throws IllegalArgumentException if the argument is not as expected; the message says what
    ///     is, and is for whoever made the request
    default Sampler create(SamplingParams params, int vocabularySize, String argument, Tokenizer tokenizer) {
        if (!argument.isEmpty()) {
            throw new IllegalArgumentException("it takes none");
        }
        return create(params, vocabularySize);
    }
}
