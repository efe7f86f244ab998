package dev.tenon.platform.core.text;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import java.util.Collection;

/// Chooses the provider that makes a file's tokenizer.
public final class Tokenizers {
    private Tokenizers() {}

    /// Makes the tokenizer of a file with the first provider that serves its `tokenizer.ggml.model`.
    ///
    /// @param metadata metadata with the `tokenizer.ggml.*` keys
    /// @param providers what is installed, the best first
    /// @return the tokenizer
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary is missing (`MODEL-001`)
    ///     or broken (`MODEL-002`, `MODEL-008`)
    /// @throws UnsupportedModelException (`MODEL-008`) if no provider serves the kind, or the
    ///     pre-tokenizer is unknown
    public static Tokenizer create(GgufMetadata metadata, Collection<TokenizerProvider> providers) {
        String model = metadata.requiredString("tokenizer.ggml.model");
        StringBuilder known = new StringBuilder();
        for (TokenizerProvider provider : providers) {
            if (provider.model().equals(model)) {
                return provider.create(metadata);
            }
            known.append(known.isEmpty() ? "" : ", ").append(provider.model());
        }
        throw new UnsupportedModelException(
                ErrorCode.MODEL_TOKENIZER,
                "Metadata key tokenizer.ggml.model in " + metadata.source() + " is \"" + model + "\"; installed kinds: "
                        + (known.isEmpty() ? "none" : known) + ". Install a bundle that offers this kind.");
    }
}
