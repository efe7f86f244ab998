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
/// @param draftedTokens tokens that were proposed to the model and ran with one that it generated; 0 where nothing
///     proposes any
/// @param acceptedTokens how many of them became part of the reply
public record Usage(
        int promptTokens,
        int cachedTokens,
        int generatedTokens,
        long prefillNanos,
        long decodeNanos,
        FinishReason finish,
        int draftedTokens,
        int acceptedTokens) {
    /// Creates the usage of a generation to which nothing was proposed.
    ///
    /// @param promptTokens as above
    /// @param cachedTokens as above
    /// @param generatedTokens as above
    /// @param prefillNanos as above
    /// @param decodeNanos as above
    /// @param finish as above
    public Usage(
            int promptTokens,
            int cachedTokens,
            int generatedTokens,
            long prefillNanos,
            long decodeNanos,
            FinishReason finish) {
        this(promptTokens, cachedTokens, generatedTokens, prefillNanos, decodeNanos, finish, 0, 0);
    }

    /// {@return prompt tokens a second; 0 when there were none}
    public double prefillTokensPerSecond() {
        return prefillNanos == 0 ? 0 : promptTokens * 1e9 / prefillNanos;
    }

    /// {@return generated tokens a second after the first one; 0 when there were fewer than two}
    public double decodeTokensPerSecond() {
        return decodeNanos == 0 || generatedTokens < 2 ? 0 : (generatedTokens - 1) * 1e9 / decodeNanos;
    }
}
