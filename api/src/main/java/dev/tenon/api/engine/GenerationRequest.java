package dev.tenon.api.engine;

import dev.tenon.api.text.SamplingParams;
import java.util.List;
import java.util.Objects;

/// What to generate.
///
/// @param prompt token ids to append first; at least one unless the session has tokens that were not run
///     yet
/// @param sampling how to choose tokens
/// @param maxTokens most tokens to generate; -1 until the context is full
/// @param stop texts that end the generation and are not part of it; unmodifiable
/// @param ignoreEndOfGeneration whether to go on after end-of-text tokens
public record GenerationRequest(
        int[] prompt, SamplingParams sampling, int maxTokens, List<String> stop, boolean ignoreEndOfGeneration) {
    /// Copies the arrays and checks the limit.
    public GenerationRequest {
        prompt = prompt.clone();
        Objects.requireNonNull(sampling, "sampling");
        stop = List.copyOf(stop);
        if (maxTokens < -1) {
            throw new IllegalArgumentException("maxTokens is " + maxTokens + "; expected -1 or more");
        }
    }

    /// {@return a request without stop texts}
    ///
    /// @param prompt token ids
    /// @param sampling how to choose tokens
    /// @param maxTokens most tokens to generate
    public static GenerationRequest of(int[] prompt, SamplingParams sampling, int maxTokens) {
        return new GenerationRequest(prompt, sampling, maxTokens, List.of(), false);
    }
}
