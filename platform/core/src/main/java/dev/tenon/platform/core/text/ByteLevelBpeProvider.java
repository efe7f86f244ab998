package dev.tenon.platform.core.text;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Makes byte-level BPE tokenizers: GPT-2, Llama 3, Qwen, Mistral's Tekken, DeepSeek and others.
@Component(
        service = TokenizerProvider.class,
        property = "tokenizer.model=gpt2",
        configurationPolicy = ConfigurationPolicy.IGNORE)
@ServiceProvider(value = TokenizerProvider.class, resolution = Resolution.OPTIONAL)
public final class ByteLevelBpeProvider implements TokenizerProvider {
    /// Creates the provider; for the framework and `ServiceLoader`.
    public ByteLevelBpeProvider() {}

    @Override
    public String model() {
        return "gpt2";
    }

    @Override
    public Tokenizer create(GgufMetadata metadata) {
        return ByteLevelBpeTokenizer.of(metadata);
    }
}
