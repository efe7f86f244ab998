package dev.tenon.api.text;

import dev.tenon.api.gguf.GgufMetadata;
import org.osgi.annotation.versioning.ConsumerType;

/// Makes tokenizers from a model's metadata. Implemented by the platform; bundles may add kinds.
@ConsumerType
public interface TokenizerProvider {
    /// {@return the value of `tokenizer.ggml.model` that it serves, such as `gpt2` or `llama`}
    String model();

    /// Makes a tokenizer.
    ///
    /// @param metadata metadata with the `tokenizer.ggml.*` keys
    /// @return the tokenizer
    /// @throws dev.tenon.api.error.ModelFormatException if the vocabulary is missing or broken
    /// @throws dev.tenon.api.error.UnsupportedModelException if the pre-tokenizer is unknown
    Tokenizer create(GgufMetadata metadata);
}
