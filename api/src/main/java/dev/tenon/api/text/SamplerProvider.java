package dev.tenon.api.text;

import org.osgi.annotation.versioning.ConsumerType;

/// Makes samplers. The platform has one; a bundle may put another in its place by a higher service ranking.
@ConsumerType
public interface SamplerProvider {
    /// Makes the sampler of one sequence.
    ///
    /// @param params how to sample
    /// @param vocabularySize number of tokens
    /// @return a new sampler
    Sampler create(SamplingParams params, int vocabularySize);
}
