package dev.tenon.api.engine;

import java.util.List;

/// A token of a reply.
///
/// @param id token id
/// @param logProbability natural logarithm of its probability under the model, before penalties,
///     processors and sampling, or after them if the request [says so][GenerationRequest#sampledProbabilities()];
///     NaN unless it asked for log-probabilities
/// @param top the most probable tokens of its position, best first, as many as the request asked
///     for; unmodifiable
public record GeneratedToken(int id, float logProbability, List<Alternative> top) {
    /// Copies the list.
    public GeneratedToken {
        top = List.copyOf(top);
    }

    /// A token that might have been sampled.
    ///
    /// @param id token id
    /// @param logProbability natural logarithm of its probability
    public record Alternative(int id, float logProbability) {}

    /// {@return a token without log-probabilities}
    ///
    /// @param id token id
    public static GeneratedToken of(int id) {
        return new GeneratedToken(id, Float.NaN, List.of());
    }
}
