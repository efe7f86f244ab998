package ${package};

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import org.osgi.service.component.annotations.Component;

/// Makes the tokenizers of model files whose `tokenizer.ggml.model` is `${id}`. Safe for any thread.
@Component(service = TokenizerProvider.class, property = "tokenizer.model=${id}")
@ServiceProvider(value = TokenizerProvider.class, resolution = Resolution.OPTIONAL)
public final class ${className} implements TokenizerProvider {
    @Override
    public String model() {
        return "${id}";
    }

    @Override
    public Tokenizer create(GgufMetadata metadata) {
        return new LongestMatch(metadata);
    }
}
