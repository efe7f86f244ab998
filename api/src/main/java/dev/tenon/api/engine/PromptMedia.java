package dev.tenon.api.engine;

import org.osgi.annotation.versioning.ProviderType;

/// A picture or a sound as a part of a prompt: tokens of the vocabulary, and rows that an encoder made of it. Made by
/// [LoadedModel#encode]; for that model alone. Immutable; safe for any thread.
@ProviderType
public interface PromptMedia {
    /// Returns what stands in a prompt in its place. A token below 0 stands for a row; which one it is depends on the
    /// content alone, so that equal pictures have equal tokens.
    ///
    /// @return the tokens, in order; owned by the caller
    int[] tokens();

    /// {@return how many of the tokens stand for rows}
    int rows();

    /// {@return a row that the model reads, `[width]`; owned by the caller}
    ///
    /// @param index which one, in the order of the tokens, 0-based
    float[] row(int index);
}
