package dev.tenon.platform.core.text;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Makes unigram tokenizers: T5, XLM-RoBERTa and the encoders that use its vocabulary, such as BGE-M3.
@Component(
        service = TokenizerProvider.class,
        property = "tokenizer.model=t5",
        configurationPolicy = ConfigurationPolicy.IGNORE)
@ServiceProvider(value = TokenizerProvider.class, resolution = Resolution.OPTIONAL)
public final class UnigramProvider implements TokenizerProvider {
    /// Creates the provider; for the framework and `ServiceLoader`.
    public UnigramProvider() {}

    @Override
    public String model() {
        return "t5";
    }

    @Override
    public Tokenizer create(GgufMetadata metadata) {
        return UnigramTokenizer.of(metadata);
    }
}
