package dev.tenon.platform.core.text;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Makes WordPiece tokenizers: BERT and the encoders that use its vocabulary.
@Component(
        service = TokenizerProvider.class,
        property = "tokenizer.model=bert",
        configurationPolicy = ConfigurationPolicy.IGNORE)
@ServiceProvider(value = TokenizerProvider.class, resolution = Resolution.OPTIONAL)
public final class WordPieceProvider implements TokenizerProvider {
    /// Creates the provider; for the framework and `ServiceLoader`.
    public WordPieceProvider() {}

    @Override
    public String model() {
        return "bert";
    }

    @Override
    public Tokenizer create(GgufMetadata metadata) {
        return WordPieceTokenizer.of(metadata);
    }
}
