package dev.tenon.itest.framework;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.itest.testkit.TokenizerContract;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.nio.file.Path;
import java.util.ServiceLoader;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/// The platform's tokenizers that work on bytes, found by `ServiceLoader` in the finished jar, keep the contract.
@ParameterizedClass(name = "{0}")
@ValueSource(strings = {"llama", "gpt2"})
class OurTokenizersIT extends TokenizerContract {
    private static final Path STORY = Path.of("../../platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");

    private final TokenizerProvider provider;
    private final GgufMetadata metadata;

    OurTokenizersIT(String model) {
        provider = ServiceLoader.load(TokenizerProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(each -> each.model().equals(model))
                .findFirst()
                .orElseThrow();
        try (GgufFile file = GgufReader.open(STORY, TensorTypes.standard())) {
            metadata = model.equals("llama") ? byteVocabulary(model) : file.metadata();
        }
    }

    @Override
    protected TokenizerProvider provider() {
        return provider;
    }

    @Override
    protected GgufMetadata metadata() {
        return metadata;
    }
}
