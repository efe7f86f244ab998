package dev.tenon.platform.core.text;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Makes the tokenizers of RWKV, which take the longest token.
@Component(
        service = TokenizerProvider.class,
        property = "tokenizer.model=rwkv",
        configurationPolicy = ConfigurationPolicy.IGNORE)
@ServiceProvider(value = TokenizerProvider.class, resolution = Resolution.OPTIONAL)
public final class LongestMatchProvider implements TokenizerProvider {
    /// Creates the provider; for the framework and `ServiceLoader`.
    public LongestMatchProvider() {}

    @Override
    public String model() {
        return "rwkv";
    }

    @Override
    public Tokenizer create(GgufMetadata metadata) {
        return LongestMatchTokenizer.of(metadata);
    }
}
