package dev.tenon.platform.core.text;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.platform.core.text.words.PreTokenizers;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Makes BPE tokenizers that merge characters: Gemma 4.
@Component(
        service = TokenizerProvider.class,
        property = "tokenizer.model=gemma4",
        configurationPolicy = ConfigurationPolicy.IGNORE)
@ServiceProvider(value = TokenizerProvider.class, resolution = Resolution.OPTIONAL)
public final class RawBpeProvider implements TokenizerProvider {
    /// Creates the provider; for the framework and `ServiceLoader`.
    public RawBpeProvider() {}

    @Override
    public String model() {
        return "gemma4";
    }

    @Override
    public Tokenizer create(GgufMetadata metadata) {
        return RawBpeTokenizer.of(metadata, PreTokenizers.of(model(), metadata.source()));
    }
}
