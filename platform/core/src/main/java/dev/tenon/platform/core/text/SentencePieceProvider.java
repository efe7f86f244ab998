package dev.tenon.platform.core.text;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Makes SentencePiece tokenizers: Llama 2, Mistral, Phi-3, Gemma and others.
@Component(
        service = TokenizerProvider.class,
        property = "tokenizer.model=llama",
        configurationPolicy = ConfigurationPolicy.IGNORE)
@ServiceProvider(value = TokenizerProvider.class, resolution = Resolution.OPTIONAL)
public final class SentencePieceProvider implements TokenizerProvider {
    /// Creates the provider; for the framework and `ServiceLoader`.
    public SentencePieceProvider() {}

    @Override
    public String model() {
        return "llama";
    }

    @Override
    public Tokenizer create(GgufMetadata metadata) {
        return SentencePieceTokenizer.of(metadata);
    }
}
