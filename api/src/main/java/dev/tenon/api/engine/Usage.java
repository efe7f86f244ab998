package dev.tenon.api.engine;

/// Counts and times of one generation.
///
/// @param promptTokens prompt tokens that were run, cached ones left out
/// @param cachedTokens tokens before the reply that were not run: those that the session had computed before,
///     and those that were computed for another sequence of the same group
/// @param generatedTokens tokens generated, the ending one included
/// @param prefillNanos from the call to the first token
/// @param decodeNanos from the first token to the last
/// @param finish why it ended
public record Usage(
        int promptTokens,
        int cachedTokens,
        int generatedTokens,
        long prefillNanos,
        long decodeNanos,
        FinishReason finish) {
    /// {@return prompt tokens a second; 0 when there were none}
    public double prefillTokensPerSecond() {
        return prefillNanos == 0 ? 0 : promptTokens * 1e9 / prefillNanos;
    }

    /// {@return generated tokens a second after the first one; 0 when there were fewer than two}
    public double decodeTokensPerSecond() {
        return decodeNanos == 0 || generatedTokens < 2 ? 0 : (generatedTokens - 1) * 1e9 / decodeNanos;
    }
}
