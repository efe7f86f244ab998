package dev.tenon.platform.grammar;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;

/// Vocabularies of models, where they are there.
final class Vocabularies {
    private static final Path SHARED =
            Path.of(System.getenv().getOrDefault("TENON_SHARED", "../../../shared"), "golden", "tokenizer");

    private Vocabularies() {}

    static Tokenizer read(String name) {
        Path file = SHARED.resolve(name);
        assumeTrue(Files.exists(file), "no vocabulary " + file + "; TENON_SHARED names the folder of such data");
        try (GgufFile gguf = GgufReader.open(file, TensorTypes.of(List.of()))) {
            String kind = gguf.metadata().requiredString("tokenizer.ggml.model");
            return ServiceLoader.load(TokenizerProvider.class).stream()
                    .map(ServiceLoader.Provider::get)
                    .filter(each -> each.model().equals(kind))
                    .findFirst()
                    .orElseThrow()
                    .create(gguf.metadata());
        }
    }
}
