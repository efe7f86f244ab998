package dev.tenon.api.text;

import org.osgi.annotation.versioning.ConsumerType;

/// Makes samplers. The platform has one, of rank 0; a bundle puts another in its place by a higher service ranking:
/// the annotation `ServiceRanking` of OSGi, which counts without a framework, too.
@ConsumerType
public interface SamplerProvider {
    /// Makes the sampler of one sequence.
    ///
    /// @param params how to sample
    /// @param vocabularySize number of tokens
    /// @return a new sampler
    Sampler create(SamplingParams params, int vocabularySize);
}
